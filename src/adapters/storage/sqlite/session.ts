/**
 * All calls to one open ledger file. Each call is synchronous inside: nothing here waits for anything.
 *
 * Owns which calls need a transaction. The rules are in append.ts, claim.ts and worker.ts; ledger.ts decides which thread calls.
 */
import { appendOf, type Step } from '#adapters/storage/sqlite/thread/packed-step.ts'
import { type Attempt, write } from '#adapters/storage/sqlite/write/append.ts'
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
import { diagnoseConflict } from '#adapters/storage/sqlite/write/diagnose-conflict.ts'
import { findEvents } from '#adapters/storage/sqlite/write/event.ts'
import { FactRows } from '#adapters/storage/sqlite/write/facts.ts'
import type { RowCache } from '#adapters/storage/sqlite/write/row-cache.ts'
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
  SealedFact,
  StreamRecord,
} from '#ports/ledger.ts'
import type { Connection } from './connection.ts'
import { isKeyClash } from './errors.ts'
import {
  type DueRow,
  idDigits,
  type RecordRow,
  RUN,
  rowAs,
  toClaimedRecord,
  toEvent,
  toFact,
  toRecord,
} from './rows.ts'
import type { Scope } from './scope.ts'
import type { Statements } from './statements.ts'

/*
 * A batch of appends in one transaction, each with its own outcome (ledger-2).
 * The normal case costs nothing extra: an append that conflicts is detected at its first statement and has changed nothing.
 * Only if an append fails in the middle, or clashes on a key, is the batch rolled back and written again with a savepoint per append.
 */

const appendBatch = (
  connection: Connection<Statements>,
  known: RowCache,
  batch: readonly (Append | Step)[],
): readonly Outcome[] =>
  connection.writeUnlessNull((sql) => writeTogether({ sql, known, facts: new FactRows(sql) }, batch)) ??
  connection.write((sql) => batch.map((entry) => writeAlone({ sql, known, facts: new FactRows(sql) }, appendOf(entry))))

/** Null if the batch must be rolled back. */
const writeTogether = (scope: Scope, batch: readonly (Append | Step)[]): readonly Outcome[] | null => {
  const outcomes: Outcome[] = []
  for (const entry of batch) {
    const attempt = attemptOf(scope, entry)
    if (attempt === 'partial') return null
    outcomes.push(attempt === 'clean' ? diagnoseConflict(scope, appendOf(entry)) : attempt)
  }
  return unlessClash(() => scope.facts.flush()) === 'clash' ? null : outcomes
}

const writeAlone = (scope: Scope, append: Append): Outcome => {
  const { sql, known, facts } = scope
  sql.savepoint.run()
  const attempt = attemptAlone(scope, append)
  if (attempt === 'partial') {
    sql.rollBackToSavepoint.run()
    facts.discard()
    known.forget()
  }
  sql.releaseSavepoint.run()
  return attempt === 'clean' || attempt === 'partial' ? diagnoseConflict(scope, append) : attempt
}

const attemptOf = (scope: Scope, entry: Append | Step): Attempt => {
  const attempt = unlessClash(() => write(scope, entry))
  return attempt === 'clash' ? 'partial' : attempt
}

/** Flushes every fact of the append to the table, so that a clash is its own. */
const attemptAlone = (scope: Scope, append: Append): Attempt => {
  const attempt = attemptOf(scope, append)
  return unlessClash(() => scope.facts.flush()) === 'clash' ? 'partial' : attempt
}

const unlessClash = <Result>(work: () => Result): Result | 'clash' => {
  try {
    return work()
  } catch (error) {
    if (isKeyClash(error)) return 'clash'
    throw error
  }
}

/*
 * Streams with their facts, many at once: two statements for any number of streams, one for those that were just claimed.
 * Owns reading of records. Never caches anything and never writes.
 */

const NO_FACTS: ReadonlyMap<number, SealedFact[]> = new Map()

const loadStreams = (
  sql: Statements,
  streams: readonly StreamId[],
  { after = 0, last = Number.POSITIVE_INFINITY }: LoadOptions,
): readonly (StreamRecord | null)[] => {
  const rows = sql.streamRecords.all(JSON.stringify(streams.map(idDigits)))
  const wanted = rows.map((row) => [row['key'], Math.max(after, Number(row['version']) - last)])
  // A caller that reads rows without facts reads many of them.
  const facts = after === Number.MAX_SAFE_INTEGER ? NO_FACTS : factsOf(sql, JSON.stringify(wanted))
  const records = new Map<StreamId, StreamRecord>()
  for (const row of rows) {
    const record = toRecord(rowAs<RecordRow>(row), facts.get(Number(row['key'])) ?? [])
    records.set(record.stream, record)
  }
  return streams.map((stream) => records.get(stream) ?? null)
}

/** Data that the claimer needs next. Only for runs: a coordinator has a checkpoint, and begins from there. */
const loadClaimed = (sql: Statements, worker: WorkerId, due: readonly DueRow[]): Pick<Claims, 'records' | 'events'> => {
  const runs = due.filter(({ kind }) => kind === RUN)
  const facts = factsOf(sql, JSON.stringify(runs.map(({ key }) => [key, 0])))
  const records = runs.map((row) => toClaimedRecord(row, worker, facts.get(row.key) ?? []))
  const sequences = runs.flatMap(({ event }) => event ?? [])
  return { records, events: sql.triggers.all(JSON.stringify(sequences)).map(toEvent) }
}

const STREAM_OF_FACT = 4

const factsOf = (sql: Statements, wanted: string): ReadonlyMap<number, SealedFact[]> => {
  const facts = new Map<number, SealedFact[]>()
  for (const row of sql.factsFrom.all(wanted)) {
    const key = Number(row[STREAM_OF_FACT])
    const known = facts.get(key)
    if (known === undefined) facts.set(key, [toFact(row)])
    else known.push(toFact(row))
  }
  return facts
}

/** The calls of the ledger and of its blobs, which are in the same file; each blob is committed on its own before `put` resolves. */
export interface LedgerSession extends Omit<Ledger, 'close' | 'events'>, Blobs {
  /** Null: earlier events must be listed by their values first, and more of them remain. Call again. */
  events(query: EventQuery): Promise<readonly StoredEvent[] | null>
  /** Clears the cache: another session has written. */
  forget(): Promise<void>
}

/** Most runs that one claim sets aside: the thread has other work, too. */
const MOST_SET_ASIDE = 4_096

export class SqliteSession implements LedgerSession {
  readonly #connection: Connection<Statements>
  readonly #known: RowCache

  constructor(connection: Connection<Statements>, known: RowCache) {
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
    // Searched before the transaction: an idle worker claims often, and no other writer can interfere.
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

  /** Sets aside the runs that this taker cannot take as they are found, a limited number with each claim. */
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
