/**
 * The Ledger on Postgres, shared by many processes.
 *
 * Owns reading of streams and events; append.ts owns writing, lease.ts owns leases. Reads go to the primary, like writes: a replica may
 * lack the fact that a process was woken for.
 */
import { Gathered } from '#adapters/storage/postgres/read/gathered.ts'
import { Appender, type AppenderOptions } from '#adapters/storage/postgres/write/append.ts'
import { LeaseUpdates } from '#adapters/storage/postgres/write/lease.ts'
import { EventValues } from '#adapters/storage/postgres/write/values.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
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
import type { ChangeHints } from './change-hints.ts'
import type { Database, Statement } from './pool.ts'
import {
  EVENT_COLUMNS,
  type EventRow,
  type FactRow,
  STREAM_NOW,
  type StreamRow,
  toEvent,
  toFact,
  toRecord,
  toStreamId,
  toUuid,
} from './rows.ts'

const STREAMS: Statement = { name: 'load_streams', text: `select ${STREAM_NOW} from stream where id = any($1::uuid[])` }
const FACTS: Statement = {
  name: 'load_facts',
  text: 'select stream, seq, type, recorded_at, body, hash from fact where stream = any($1::uuid[]) and seq >= $2 order by stream, seq',
}
const LAST_FACTS: Statement = {
  name: 'load_last_facts',
  text: `select f.* from (select distinct id from unnest($1::uuid[]) as id) w, lateral (
      select stream, seq, type, recorded_at, body, hash from fact where stream = w.id order by seq desc limit $2) f
    order by stream, seq`,
}
/** Reads a stream and its last fact alone, which a fork needs: one statement instead of two. */
const LAST_FACT: Statement = {
  name: 'load_last_fact',
  text: `select s.*, f.* from (select distinct id from unnest($1::uuid[]) as id) w,
    lateral (select ${STREAM_NOW} from stream where id = w.id offset 0) s left join lateral (
      select stream, seq, type, recorded_at, body, hash from fact where stream = s.id order by seq desc limit 1) f on true`,
}

/** Reads type by type, so that a rare type is not searched for among all events; the list drives, as in append-sql.ts. */
const ofTypes = (name: string, order: 'asc' | 'desc'): Statement => ({
  name,
  text: `select ${EVENT_COLUMNS} from (select distinct wanted from unnest($4::text[]) as wanted) w, lateral (
      select * from event where tenant = $1 and type = w.wanted and seq > $2 order by seq ${order} limit $3) e
    order by seq ${order} limit $3`,
})
const EVENTS_OF_TYPES = ofTypes('events_of_types', 'asc')
const NEWEST_OF_TYPES = ofTypes('newest_of_types', 'desc')
const EVENTS_NAMED: Statement = {
  name: 'events_named',
  text: `select ${EVENT_COLUMNS} from (select distinct wanted from unnest($4::bigint[]) as wanted) w, lateral (
      select * from event where seq = w.wanted offset 0) e
    where tenant = $1 and seq > $2 order by seq limit $3`,
}
const EVENTS_AFTER: Statement = {
  name: 'events_after',
  text: `select ${EVENT_COLUMNS} from event where tenant = $1 and seq > $2 order by seq limit $3`,
}

/** Reads of single streams at the same moment share a statement: many if only rows are read, few if each may bring many facts. */
const HEADS_AT_ONCE = 256
const WHOLES_AT_ONCE = 16

export class PostgresLedger implements Ledger {
  readonly #database: Database
  readonly #appender: Appender
  readonly #leases: LeaseUpdates
  readonly #hints: ChangeHints | null
  readonly #values: EventValues
  readonly #heads = new Gathered((streams: readonly StreamId[]) => this.#loadHeads(streams), HEADS_AT_ONCE)
  readonly #wholes = new Gathered((streams: readonly StreamId[]) => this.#loadFacts(streams, 0), WHOLES_AT_ONCE)

  constructor(database: Database, options: AppenderOptions, hints: ChangeHints | null = null) {
    this.#database = database
    this.#hints = hints
    this.#appender = new Appender(database, options)
    this.#leases = new LeaseUpdates(database, options.clock)
    this.#values = new EventValues(database, (types) => this.#appender.lockAlone(types))
  }

  async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    const outcomes = await this.#appender.append(batch)
    this.#hints?.committed(batch)
    return outcomes
  }

  async load(
    streams: readonly StreamId[],
    { after = 0, last }: LoadOptions = {},
  ): Promise<readonly (StreamRecord | null)[]> {
    if (last === 1) return this.#loadLast(streams, streams.map(toUuid))
    const [only] = streams
    const gathered = after === Number.MAX_SAFE_INTEGER ? this.#heads : after === 0 ? this.#wholes : null
    if (last === undefined && gathered !== null && only !== undefined && streams.length === 1)
      return [await gathered.ask(only)]
    return this.#loadFacts(streams, after, last)
  }

  async #loadHeads(streams: readonly StreamId[]): Promise<readonly (StreamRecord | null)[]> {
    const rows = await this.#database.query<StreamRow>(STREAMS, [streams.map(toUuid)])
    const records = new Map(rows.map((row) => [toStreamId(row), toRecord(row, [])] as const))
    return streams.map((stream) => records.get(stream) ?? null)
  }

  async #loadFacts(
    streams: readonly StreamId[],
    after: number,
    last?: number,
  ): Promise<readonly (StreamRecord | null)[]> {
    const ids = streams.map(toUuid)
    const [rows, facts] = (await this.#database.queries([
      { statement: STREAMS, values: [ids] },
      last === undefined ? { statement: FACTS, values: [ids, after] } : { statement: LAST_FACTS, values: [ids, last] },
    ])) as unknown as [StreamRow[], FactRow[]]
    const byUuid = new Map(rows.map((row) => [row.id, { row, facts: [] as SealedFact[] }]))
    for (const fact of facts) {
      const stream = byUuid.get(fact.stream)
      // Facts are read after the stream: later facts are left out, so that the record shows one moment.
      if (stream !== undefined && fact.seq < stream.row.version) stream.facts.push(toFact(fact))
    }
    const records = new Map<StreamId, StreamRecord>()
    for (const { row, facts: own } of byUuid.values()) records.set(toStreamId(row), toRecord(row, own))
    return streams.map((stream) => records.get(stream) ?? null)
  }

  async #loadLast(streams: readonly StreamId[], ids: readonly string[]): Promise<readonly (StreamRecord | null)[]> {
    const rows = await this.#database.query<StreamRow & (FactRow | { readonly seq: null })>(LAST_FACT, [ids])
    const records = new Map(
      rows.map((row) => [toStreamId(row), toRecord(row, row.seq === null ? [] : [toFact(row)])] as const),
    )
    return streams.map((stream) => records.get(stream) ?? null)
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[]> {
    const { tenant, types, matching, after, sequences, settled, newest, limit } = query
    const values = [tenant, after ?? 0, limit]
    const ask = async (): Promise<readonly EventRow[]> => {
      if (sequences !== undefined) return this.#database.query(EVENTS_NAMED, [...values, sequences])
      if (matching !== undefined) return this.#values.find(query, matching)
      if (types !== undefined && newest === true)
        return [...(await this.#database.query<EventRow>(NEWEST_OF_TYPES, [...values, types]))].reverse()
      if (types !== undefined && settled === true) return this.#settledEvents(values, types)
      if (types !== undefined) return this.#database.query(EVENTS_OF_TYPES, [...values, types])
      return this.#database.query(EVENTS_AFTER, values)
    }
    return (await ask()).map(toEvent)
  }

  /** Sequences are drawn under a shared lock of the type: after holding it exclusively, all lower ones are known to be committed. */
  async #settledEvents(values: readonly (string | number)[], types: readonly string[]): Promise<readonly EventRow[]> {
    const read = { statement: EVENTS_OF_TYPES, values: [...values, types] }
    const [, rows] = await this.#database.transaction<EventRow>([this.#appender.lockAlone(types), read])
    return rows ?? []
  }

  claim(request: ClaimRequest): Promise<Claims> {
    return this.#leases.claim(request)
  }

  beat(request: BeatRequest): Promise<number> {
    this.#hints?.open()
    return this.#leases.beat(request)
  }

  retire(worker: WorkerId, now: Instant): Promise<void> {
    return this.#leases.retire(worker, now)
  }

  async close(): Promise<void> {
    await this.#hints?.close()
    await this.#database.close()
  }
}
