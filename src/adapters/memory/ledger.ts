/**
 * The Ledger on plain maps: real and small, for the simulator and for tests. Several of them may share one store.
 *
 * Owns leases and claims; append.ts owns the writing. Applies every call before it answers, so that nothing is ever half done.
 */
import { TrihandError } from '../../model/errors.ts'
import type { StoredEvent } from '../../model/event.ts'
import type { ClaimableId, Instant, StreamId, WorkerId } from '../../model/ids.ts'
import type {
  Append,
  BeatRequest,
  Claim,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  Outcome,
  StreamRecord,
} from '../../ports/ledger.ts'
import { appendOne } from './append.ts'
import type { MemoryStore } from './store.ts'
import { type MemoryStream, toRecord } from './stream.ts'

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
    options: { readonly after?: number } = {},
  ): Promise<readonly (StreamRecord | null)[]> {
    this.#checkOpen()
    return streams.map((id) => {
      const stream = this.#store.streams.get(id)
      return stream === undefined ? null : toRecord(stream, options.after ?? 0)
    })
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[]> {
    this.#checkOpen()
    return this.#store.events.query(query)
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    this.#checkOpen()
    const claims = request.only === undefined ? this.#claimDue(request) : this.#claimNamed(request, request.only)
    return { claims, nextDueAt: this.#store.nextParked()?.wakeAt ?? null }
  }

  async beat({ worker, now, ttlMs, info }: BeatRequest): Promise<number> {
    this.#checkOpen()
    const { workers } = this.#store
    workers.set(worker, { beatAt: now, info: info ?? workers.get(worker)?.info ?? null })
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

  #claimDue({ worker, now, limit }: ClaimRequest): readonly Claim[] {
    const claims: Claim[] = []
    while (claims.length < limit) {
      const next = this.#store.nextParked()
      if (next === undefined || !isDue(next, now)) break
      claims.push(this.#lease(next, worker))
    }
    return claims
  }

  #claimNamed({ worker, now, limit }: ClaimRequest, only: readonly ClaimableId[]): readonly Claim[] {
    return [...new Set(only)]
      .flatMap((id) => this.#store.streams.get(id) ?? [])
      .filter((stream) => isDue(stream, now))
      .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0) || a.key - b.key)
      .slice(0, limit)
      .map((stream) => this.#lease(stream, worker))
  }

  #lease(stream: MemoryStream, worker: WorkerId): Claim {
    stream.epoch += 1
    this.#store.place(stream, worker, null)
    return {
      stream: stream.id as ClaimableId,
      version: stream.facts.length,
      epoch: stream.epoch,
      signal: stream.signal,
    }
  }

  /** The epoch rises, so that a holder who still lives is fenced. */
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

const isDue = (stream: MemoryStream, now: Instant): boolean =>
  stream.lease === null && stream.wakeAt !== null && stream.wakeAt <= now
