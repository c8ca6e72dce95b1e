/**
 * The Ledger on plain maps: complete and small, for the simulator and for tests. Several ledgers may share one store.
 *
 * Owns leases; claim.ts chooses the runs of a claim, append.ts owns writing. Applies every call before it answers, so that nothing is
 * ever half done.
 */
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ClaimableId, Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import { bornAfter, pinAfter, type Taker } from '#model/worker/pin.ts'
import type {
  Append,
  BeatRequest,
  Claim,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  LoadOptions,
  Outcome,
  StreamRecord,
} from '#ports/ledger.ts'
import { appendOne } from './append.ts'
import { findClaimable, nextDueAt } from './claim.ts'
import type { MemoryStore } from './store.ts'
import { type MemoryStream, toRecord } from './stream.ts'

/** Only for a stream that has a lease: no queue holds it. */
const repin = (stream: MemoryStream, { version, takesOver = [] }: Taker): void => {
  const isFree = takesOver.find(({ handler }) => handler === stream.handler)?.isFree ?? false
  const pinned = pinAfter(stream.systemHash, version, isFree)
  if (pinned !== stream.systemHash) stream.bornHash = bornAfter(stream.bornHash, stream.systemHash, stream.epoch - 1)
  stream.systemHash = pinned
}

export class MemoryLedger implements Ledger {
  readonly #store: MemoryStore
  #isClosed = false

  constructor(store: MemoryStore) {
    this.#store = store
  }

  async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    this.#checkOpen()
    return batch.map((append) => appendOne(this.#store, append))
  }

  async load(
    streams: readonly StreamId[],
    { after = 0, last = Number.POSITIVE_INFINITY }: LoadOptions = {},
  ): Promise<readonly (StreamRecord | null)[]> {
    this.#checkOpen()
    return streams.map((id) => {
      const stream = this.#store.streams.get(id)
      return stream === undefined ? null : toRecord(stream, Math.max(after, stream.facts.length - last))
    })
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[]> {
    this.#checkOpen()
    return this.#store.events.query(query)
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    this.#checkOpen()
    const { chosen, left } = findClaimable(this.#store, request)
    const claims = chosen.map((stream) => this.#lease(stream, request))
    return { claims, nextDueAt: nextDueAt(this.#store, request, left) }
  }

  async beat({ worker, now, ttlMs, info }: BeatRequest): Promise<number> {
    this.#checkOpen()
    const { workers } = this.#store
    const known = workers.get(worker)
    // A late heartbeat must not overwrite a newer one.
    workers.set(worker, { beatAt: Math.max(now, known?.beatAt ?? now), info: info ?? known?.info ?? null })
    for (const [other, { beatAt }] of workers) if (now - beatAt > ttlMs) workers.delete(other)
    const lost = this.#store.holders().filter((holder) => !workers.has(holder))
    return lost.reduce((freed, holder) => freed + this.#free(holder, now, 1), 0)
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    this.#checkOpen()
    this.#free(worker, now, 0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new TrihandError('LEDGER_UNAVAILABLE', 'this ledger is closed')
  }

  #lease(stream: MemoryStream, { worker, taker }: ClaimRequest): Claim {
    stream.epoch += 1
    this.#store.place(stream, worker, null)
    if (taker !== undefined && stream.systemHash !== taker.version) repin(stream, taker)
    return {
      stream: stream.id as ClaimableId,
      tenant: stream.tenant,
      version: stream.facts.length,
      epoch: stream.epoch,
      signal: stream.signal,
    }
  }

  /** Raises the epoch, so that a holder that is still alive is fenced. */
  #free(worker: WorkerId, now: Instant, recoveries: number): number {
    const held = this.#store.leasedBy(worker)
    for (const stream of held) {
      stream.epoch += 1
      stream.recoveries += recoveries
      this.#store.place(stream, null, now)
    }
    this.#store.forget(worker)
    return held.length
  }
}
