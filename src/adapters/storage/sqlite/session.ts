/**
 * Everything that can be asked of one open ledger file, done when it answers: nothing here waits for anything.
 *
 * Owns which calls need a transaction. The rules are in append.ts, claim.ts and worker.ts; who asks, and in which thread, is ledger.ts.
 */
import type { Step } from '#adapters/storage/sqlite/thread/packed-step.ts'
import { appendBatch } from '#adapters/storage/sqlite/write/batch.ts'
import {
  type Found,
  findDue,
  isNewTaker,
  lease,
  nextDueAt,
  setAside,
  takeBack,
  takenRow,
} from '#adapters/storage/sqlite/write/claim.ts'
import { findEvents } from '#adapters/storage/sqlite/write/event.ts'
import { loadClaimed, loadStreams } from '#adapters/storage/sqlite/write/load.ts'
import type { Known } from '#adapters/storage/sqlite/write/row-cache.ts'
import { isListed, listSome } from '#adapters/storage/sqlite/write/values.ts'
import { beat, retire } from '#adapters/storage/sqlite/write/worker.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Instant, StreamId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type {
  Append,
  BeatRequest,
  ClaimRequest,
  Claims,
  EventMatch,
  EventQuery,
  Ledger,
  LoadOptions,
  Outcome,
  StreamRecord,
} from '#ports/ledger.ts'
import type { Connection } from './connection.ts'
import type { Statements } from './statements.ts'

/** The calls of the ledger and of its blobs, which live in the same file; each blob is committed by itself before `put` answers. */
export interface LedgerSession extends Omit<Ledger, 'close' | 'events'>, Blobs {
  /** Null: events of before had to be listed by their values first, and there are more of them. Ask again. */
  events(query: EventQuery): Promise<readonly StoredEvent[] | null>
  /** Somebody else has written: nothing that was remembered holds. */
  forget(): Promise<void>
}

/** So many with one claim: the thread has other work, too. */
const MOST_SET_ASIDE = 4_096

export class SqliteSession implements LedgerSession {
  readonly #connection: Connection<Statements>
  readonly #known: Known

  constructor(connection: Connection<Statements>, known: Known) {
    this.#connection = connection
    this.#known = known
  }

  async append(batch: readonly (Append | Step)[]): Promise<readonly Outcome[]> {
    return appendBatch(this.#connection, this.#known, batch)
  }

  async load(streams: readonly StreamId[], options: LoadOptions = {}): Promise<readonly (StreamRecord | null)[]> {
    return this.#connection.read((sql) => loadStreams(sql, streams, options))
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[] | null> {
    const { tenant, matching } = query
    return matching === undefined || this.#isListed(tenant, matching)
      ? this.#connection.read((sql) => findEvents(sql, query))
      : this.#listed(query, matching)
  }

  #isListed(tenant: TenantId, matching: readonly EventMatch[]): boolean {
    return this.#connection.read((sql) => isListed({ sql, known: this.#known }, tenant, matching))
  }

  #listed(query: EventQuery, matching: readonly EventMatch[]): readonly StoredEvent[] | null {
    this.#connection.write((sql) => listSome({ sql, known: this.#known }, query.tenant, matching))
    return this.#isListed(query.tenant, matching) ? this.#connection.read((sql) => findEvents(sql, query)) : null
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    // Looked up before the transaction: an idle worker asks often, and nobody else writes in between.
    const { found, moved } = this.#find(request)
    const { rows, left } = found
    const claims =
      rows.length === 0 ? [] : this.#connection.write((sql) => lease({ sql, known: this.#known }, request, rows))
    return this.#connection.read((sql) => ({
      claims,
      nextDueAt: nextDueAt({ sql, known: this.#known }, request, left),
      ...(moved > 0 && { moved }),
      ...(rows.length > 0 &&
        loadClaimed(
          sql,
          request.worker,
          rows.map((row) => takenRow(row, request.taker)),
        )),
    }))
  }

  /** Runs that this taker cannot take are set aside as they are met, some with each claim. */
  #find(request: ClaimRequest): { readonly found: Found; readonly moved: number } {
    const session = (sql: Statements) => ({ sql, known: this.#known })
    if (isNewTaker({ known: this.#known }, request)) this.#connection.write((sql) => takeBack(session(sql)))
    for (let moved = 0; ; ) {
      const found = this.#connection.read((sql) => findDue(session(sql), request))
      const { foreign } = found
      if (foreign.length > 0) this.#connection.write((sql) => setAside(session(sql), foreign))
      moved += foreign.length
      if (foreign.length === 0 || moved > MOST_SET_ASIDE) return { found, moved }
    }
  }

  async beat(request: BeatRequest): Promise<number> {
    return this.#connection.write((sql) => beat({ sql, known: this.#known }, request))
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    this.#connection.write((sql) => retire({ sql, known: this.#known }, worker, now))
  }

  async put(hash: string, text: string): Promise<void> {
    this.#connection.write((sql) => sql.putBlob.run(hash, text))
  }

  async get(hash: string): Promise<string | null> {
    const row = this.#connection.read((sql) => sql.getBlob.get(hash))
    return row === undefined ? null : String(row['body'])
  }

  async forget(): Promise<void> {
    this.#known.forget()
  }
}
