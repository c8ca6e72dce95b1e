/**
 * The Ledger on one SQLite file that this process owns. Every call is done when it answers: nothing here waits for anything.
 *
 * Owns which calls need a transaction. The rules are in append.ts, claim.ts and worker.ts.
 */
import type { StoredEvent } from '../../model/event.ts'
import type { Instant, StreamId, WorkerId } from '../../model/ids.ts'
import type {
  Append,
  BeatRequest,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  LoadOptions,
  Outcome,
  StreamRecord,
} from '../../ports/ledger.ts'
import { appendBatch } from './batch.ts'
import { findDue, lease, nextDueAt } from './claim.ts'
import type { Connection } from './connection.ts'
import { findEvents } from './event.ts'
import type { Known } from './known.ts'
import { loadClaimed, loadStreams } from './load.ts'
import type { Statements } from './statements.ts'
import { beat, retire } from './worker.ts'

export interface SqliteLedgerOptions {
  readonly connection: Connection<Statements>
  readonly known: Known
  /** Gives up everything that was opened with this ledger. */
  readonly close: () => void
}

export class SqliteLedger implements Ledger {
  readonly #connection: Connection<Statements>
  readonly #known: Known
  readonly #close: () => void

  constructor({ connection, known, close }: SqliteLedgerOptions) {
    this.#connection = connection
    this.#known = known
    this.#close = close
  }

  async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    return appendBatch(this.#connection, this.#known, batch)
  }

  async load(streams: readonly StreamId[], options: LoadOptions = {}): Promise<readonly (StreamRecord | null)[]> {
    return this.#connection.read((sql) => loadStreams(sql, streams, options))
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[]> {
    return this.#connection.read((sql) => findEvents(sql, query))
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    // Looked up before the transaction: an idle worker asks often, and nobody else writes in between.
    const { rows, left } = this.#connection.read((sql) => findDue({ sql, known: this.#known }, request))
    const claims =
      rows.length === 0 ? [] : this.#connection.write((sql) => lease({ sql, known: this.#known }, request, rows))
    return this.#connection.read((sql) => ({
      claims,
      nextDueAt: nextDueAt({ sql, known: this.#known }, request, left),
      ...(rows.length > 0 && loadClaimed(sql, request.worker, rows)),
    }))
  }

  async beat(request: BeatRequest): Promise<number> {
    return this.#connection.write((sql) => beat({ sql, known: this.#known }, request))
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    this.#connection.write((sql) => retire({ sql, known: this.#known }, worker, now))
  }

  async close(): Promise<void> {
    this.#close()
  }
}
