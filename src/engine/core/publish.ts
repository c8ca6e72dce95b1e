/**
 * Publishes what has been committed to subscribers, and to callers who wait for a run's end.
 *
 * Owns the registry. Never fails a commit: the error of a subscriber that throws is reported, and the others are still called.
 *
 * publish-1  Nothing is published before it is in the ledger.
 */
import type { RunId, StreamId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Append } from '#ports/ledger.ts'
import { Observers } from './observers.ts'

/** One commit of a run, as `subscribe('runs', …)` gives it. */
export interface RunNotice {
  /** The run. */
  readonly run: RunId
  /** Its function, agent or human, by name. */
  readonly handler: string
  /** Its status after the commit. */
  readonly status: RunStatus
  /** How many facts it has now. */
  readonly version: number
  /** The facts that are new, in their order. */
  readonly facts: readonly RunFact[]
}

export type Subscriber = (notice: RunNotice) => void

/** What one append has changed, as `subscribe('changes', …)` gives it. */
export interface Change {
  /** The runs, tasks, sessions, schedules and queues that have new facts. */
  readonly streams: readonly StreamId[]
  /** How many events are new. */
  readonly events: number
}

export type Watcher = (change: Change) => void

export class Publish {
  private readonly subscribers = new Set<Subscriber>()
  private readonly watchers = new Set<Watcher>()
  private readonly observers: Observers
  private readonly report: (error: unknown) => void

  /** `observers`: those that count for all tenants together. */
  constructor(observers: Observers = new Observers(), report: (error: unknown) => void = () => {}) {
    this.observers = observers
    this.report = report
  }

  subscribe(subscriber: Subscriber): () => void {
    this.subscribers.add(subscriber)
    return () => this.subscribers.delete(subscriber)
  }

  watch(watcher: Watcher): () => void {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  tell(notice: RunNotice): void {
    this.tellAll(this.subscribers, notice)
    if (!this.observers.isEmpty)
      this.observers.tell((observer) => observer.ranOn(notice.handler, notice.facts, notice.run))
  }

  /** Called for every append that this process has written. */
  committed(append: Append): void {
    if (!this.observers.isEmpty) this.observers.tell((observer) => observer.appended(append))
    if (this.watchers.size === 0) return
    const { writes, events } = append
    this.tellAll(this.watchers, { streams: writes.map(({ stream }) => stream), events: events.length })
  }

  private tellAll<Notice>(listeners: ReadonlySet<(notice: Notice) => void>, notice: Notice): void {
    for (const listener of listeners) {
      try {
        listener(notice)
      } catch (error) {
        this.report(error)
      }
    }
  }
}
