/**
 * A ledger that verifies facts against their hashes when they are loaded: the one place between the engine and any store.
 *
 * Owns how a record with wrong hashes is returned. Never writes a hash (engine/core/chain.ts). A run that stays in memory is not read
 * again.
 *
 * checked-1  A loaded fact is returned only if all loaded facts of its record fit their hashes (seal-1): a record that does not fit
 *            is marked as broken, holds nothing that can be read, and does not affect other records.
 * checked-2  A record is marked as broken only if it fails twice: a row and its facts may have been read at two moments of a shared store.
 */
import type { StoredEvent } from '#model/event/event.ts'
import { BROKEN_FACT } from '#model/kernel/fact-codec.ts'
import type { Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import { flawOf, GENESIS } from '#model/kernel/seal.ts'
import type { Ids } from '#ports/ids.ts'
import type {
  Append,
  BeatRequest,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  LoadOptions,
  Outcome,
  SealedFact,
  StreamRecord,
} from '#ports/ledger.ts'

export class CheckedLedger implements Ledger {
  readonly #inner: Ledger
  readonly #ids: Pick<Ids, 'checkSeal'>

  constructor(inner: Ledger, ids: Pick<Ids, 'checkSeal'>) {
    this.#inner = inner
    this.#ids = ids
  }

  append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    return this.#inner.append(batch)
  }

  /** Loads one fact more than requested, if there is one: the hash of the first requested fact covers it. */
  async load(streams: readonly StreamId[], options: LoadOptions = {}): Promise<readonly (StreamRecord | null)[]> {
    const { after = 0, last } = options
    // Rows without facts, or the last fact, which is compared with the head by its hash: a fork reads it, with one statement.
    if (after === Number.MAX_SAFE_INTEGER || last === 1) return this.#inner.load(streams, options)
    const wider = last === undefined ? { after: Math.max(0, after - 1) } : { last: last + 1 }
    const records = await this.#inner.load(streams, wider)
    return Promise.all(
      records.map(async (record) => {
        if (record === null || this.#flawOf(record) === null) return record === null ? null : cut(record, options)
        // checked-2
        const [again] = await this.#inner.load([record.stream], wider)
        const flaw = again == null ? null : this.#flawOf(again)
        if (again == null) return null
        return flaw === null ? cut(again, options) : brokenRecord(again, flaw)
      }),
    )
  }

  events(query: EventQuery): Promise<readonly StoredEvent[]> {
    return this.#inner.events(query)
  }

  /** Leaves out records that do not fit; the engine then loads them separately. */
  async claim(request: ClaimRequest): Promise<Claims> {
    const claims = await this.#inner.claim(request)
    if (claims.records === undefined) return claims
    return { ...claims, records: claims.records.filter((record) => this.#flawOf(record) === null) }
  }

  beat(request: BeatRequest): Promise<number> {
    return this.#inner.beat(request)
  }

  retire(worker: WorkerId, now: Instant): Promise<void> {
    return this.#inner.retire(worker, now)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #flawOf({ stream, version, facts, headHash, broken }: StreamRecord): string | null {
    if (broken !== undefined) return broken
    if (facts.length === 0) return null
    const first = version - facts.length
    const list = { stream, first, previous: first === 0 ? GENESIS : null, facts, head: headHash }
    return flawOf(list, (seal, text) => this.#ids.checkSeal(seal, text))
  }
}

/** Removes the fact that was loaded for its hash. */
const cut = (record: StreamRecord, { after = 0, last = record.version }: LoadOptions): StreamRecord => {
  const { version, facts } = record
  const count = Math.max(0, Math.min(facts.length, last, version - after))
  return count === facts.length ? record : { ...record, facts: facts.slice(facts.length - count) }
}

/** Replaces the record's facts by one that cannot be read. */
export const brokenRecord = (record: StreamRecord, flaw: string): StreamRecord => {
  const last = record.facts.at(-1)
  const unreadable: SealedFact = {
    type: BROKEN_FACT,
    recordedAt: last?.recordedAt ?? 0,
    body: JSON.stringify(flaw),
    hash: record.headHash,
  }
  return { ...record, facts: [unreadable], broken: flaw }
}
