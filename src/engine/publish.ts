/**
 * Telling the outside what has been committed: subscribers, and callers who wait for a run's end.
 *
 * Owns the registry. Never fails a commit: a subscriber that throws is reported and passed over.
 *
 * publish-1  Nothing is told before it is in the ledger.
 */
import type { RunId } from '../model/ids.ts'
import type { RunFact } from '../model/run-fact.ts'
import type { RunStatus } from '../model/status.ts'

export interface RunNotice {
  readonly run: RunId
  readonly handler: string
  readonly status: RunStatus
  readonly version: number
  readonly facts: readonly RunFact[]
}

export type Subscriber = (notice: RunNotice) => void

export class Publish {
  private readonly subscribers = new Set<Subscriber>()
  private readonly report: (error: unknown) => void

  constructor(report: (error: unknown) => void = () => {}) {
    this.report = report
  }

  subscribe(subscriber: Subscriber): () => void {
    this.subscribers.add(subscriber)
    return () => this.subscribers.delete(subscriber)
  }

  tell(notice: RunNotice): void {
    for (const subscriber of this.subscribers) {
      try {
        subscriber(notice)
      } catch (error) {
        this.report(error)
      }
    }
  }
}
