/**
 * Orders to workers, as events that every process can read, and the resulting state of this worker.
 *
 * Owns the types of these events and how far they were read. model/worker/worker-control.ts decides which order counts; worker.ts follows it.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { TenantId, WorkerId } from '#model/kernel/ids.ts'
import {
  workerControl as machine,
  takesAny,
  type WorkerControlFact,
  type WorkerControlState,
} from '#model/worker/worker-control.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { Ledger } from '#ports/ledger.ts'

const PREFIX = 'trihand.worker.'
const NAMES: readonly WorkerControlFact['type'][] = [
  'drain_ordered',
  'pause_ordered',
  'resume_ordered',
  'stop_ordered',
  'stop_lifted',
]
const TYPES = NAMES.map((name) => `${PREFIX}${name}`)
/** The subject of an order to all workers. */
const ALL = '*'
const PAGE = 100

/** Returns the event that publishes the order. */
export const eventOf = (fact: WorkerControlFact) => ({
  type: `${PREFIX}${fact.type}`,
  subject: 'worker' in fact ? fact.worker : ALL,
  data: { by: fact.by, ...(fact.type === 'stop_ordered' ? { reason: fact.reason } : {}) },
})

const factOf = ({ type, subject, time, data }: StoredEvent): WorkerControlFact => {
  const name = type.slice(PREFIX.length) as WorkerControlFact['type']
  const { by, reason = null } = data as { readonly by: string; readonly reason?: string | null }
  if (name === 'stop_lifted') return { type: name, by }
  return name === 'stop_ordered'
    ? { type: name, by, reason, at: time }
    : { type: name, worker: subject as WorkerId, by }
}

/** Selects the orders to single workers that concern this process. */
interface Names {
  isOwn(worker: WorkerId): boolean
}

export class WorkerControl {
  private readonly ledger: Pick<Ledger, 'events'>
  private readonly tenant: () => TenantId
  private readonly names: Names
  private seen = 0
  standing: WorkerControlState = machine.initial

  constructor(ledger: Pick<Ledger, 'events'>, tenant: () => TenantId, names: Names) {
    this.ledger = ledger
    this.tenant = tenant
    this.names = names
  }

  /** True if new runs may be taken, by the orders read so far. */
  get takesAny(): boolean {
    return takesAny(this.standing)
  }

  /** The same state as other workers and people see it. */
  get halt(): Pick<WorkerInfo, 'halt'> {
    if (this.standing.stop !== null) return { halt: 'stopped' }
    return this.standing.isPaused ? { halt: 'paused' } : {}
  }

  /** Reads the orders since the last look. Returns true if the state of this worker has changed. */
  async look(): Promise<boolean> {
    const before = this.standing
    for (;;) {
      const query = { tenant: this.tenant(), types: TYPES, after: this.seen, limit: PAGE }
      const events = await this.ledger.events(query)
      for (const event of events) this.take(event)
      if (events.length < PAGE) return this.standing !== before
    }
  }

  private take(event: StoredEvent): void {
    // A concurrent look may already have read this event.
    if (event.sequence <= this.seen) return
    this.seen = event.sequence
    const fact = factOf(event)
    if (!('worker' in fact) || this.names.isOwn(fact.worker)) this.standing = machine.evolve(this.standing, fact)
  }
}
