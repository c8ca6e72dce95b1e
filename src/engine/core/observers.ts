/**
 * Observers that collect metrics of this process: the appends of all tenants, the outcomes of batches, step durations, freed leases.
 *
 * Owns the list. Never changes or fails what it observes, and costs next to nothing while there is no observer.
 */
import type { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'

type WorkerLedger = Pick<Ledger, 'load' | 'events' | 'claim' | 'beat' | 'retire'>

/** A batch of appends, what became of each, and how long the ledger took. */
export interface Written {
  readonly appends: readonly Append[]
  readonly outcomes: readonly Outcome[]
  readonly ms: number
}

/** Counts what this process does for all its tenants, as `subscribe('metrics', …)` calls it. It is called often, so it should return at once. */
export interface Observer {
  /** An append is in the ledger. */
  appended(append: Append): void
  /** Facts of a run of this handler are in the ledger, other than those of its creation. */
  ranOn(handler: string, facts: readonly RunFact[], run: RunId): void
  /** A batch of appends was sent to the ledger and answered. */
  wrote(batch: Written): void
  /** The ledger refused a batch with this number of appends; `kept` of them are sent again. */
  refused(error: TrihandError, appends: number, kept: number): void
  /** An attempt of a step of this handler was performed, in `ms` milliseconds. */
  performed(handler: string, isDone: boolean, ms: number): void
  /** A run that waited for an instant was woken `lateMs` milliseconds after it. */
  woke(lateMs: number): void
  /** Leases of silent workers were freed. `leases`: how many. */
  recovered(leases: number): void
  /** The ledger did not answer a call of a worker, which asks again. */
  failed(call: string, error: unknown): void
}

export class Observers {
  private readonly observers = new Set<Observer>()

  add(observer: Observer): () => void {
    this.observers.add(observer)
    return () => this.observers.delete(observer)
  }

  get isEmpty(): boolean {
    return this.observers.size === 0
  }

  tell(notify: (observer: Observer) => void): void {
    for (const observer of this.observers) {
      try {
        notify(observer)
      } catch {
        // A failing observer must not stop what it observes.
      }
    }
  }

  private heard<T>(call: string, asked: Promise<T>): Promise<T> {
    if (this.isEmpty) return asked
    return asked.catch((error: unknown) => {
      this.tell((observer) => observer.failed(call, error))
      throw error
    })
  }

  /** Wraps the ledger calls of a worker, so that failures and the answers to heartbeats are observed. */
  around(ledger: WorkerLedger): WorkerLedger {
    return {
      load: (...asked) => this.heard('load', ledger.load(...asked)),
      events: (query) => this.heard('events', ledger.events(query)),
      claim: (request) => this.heard('claim', ledger.claim(request)),
      beat: async (request) => {
        const leases = await this.heard('beat', ledger.beat(request))
        if (leases > 0) this.tell((observer) => observer.recovered(leases))
        return leases
      },
      retire: (...asked) => ledger.retire(...asked),
    }
  }
}
