/**
 * Events by the values they hold (ledger-11): the append that writes an event lists it; earlier events are listed on the first query.
 *
 * Owns reading the tables event_value and value_path, and listing earlier events. append-sql.ts lists new ones.
 */
import { LISTED_AT_ONCE, valueAt } from '#adapters/storage/event-values.ts'
import type { Command, Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { EVENT_COLUMNS, type EventRow, keyOf, toEvent } from '#adapters/storage/postgres/rows.ts'
import type { EventMatch, EventQuery } from '#ports/ledger.ts'
import { LAST_SEQUENCE } from './append-sql.ts'

/** Values: tenant, keys, the sequence after which each counts, limit. The list drives, as in append-sql.ts. */
const ofValues = (name: string, order: 'asc' | 'desc'): Statement => ({
  name,
  text: `select ${EVENT_COLUMNS} from (
      select distinct v.seq as found from unnest($2::uuid[], $3::bigint[]) as w(value_key, since), lateral (
        select seq from event_value where key = w.value_key and tenant = $1 and seq > w.since order by seq ${order} limit $4) v
      order by found ${order} limit $4) f,
    lateral (select * from event where seq = f.found offset 0) e
    order by seq`,
})
const OLDEST = ofValues('events_of_values', 'asc')
const NEWEST = ofValues('newest_of_values', 'desc')

/** Values: tenant, type, path. Does nothing if the path is open already. */
const OPEN_PATH: Statement = {
  name: 'open_value_path',
  text: `with added as (insert into wait_path (type, path) values ($2, $3) on conflict do nothing)
    insert into value_path (tenant, type, path, since) select $1, $2, $3, at from (${LAST_SEQUENCE}) p on conflict do nothing`,
}
const SINCE: Statement = {
  name: 'value_path_since',
  text: 'select since from value_path where tenant = $1 and type = $2 and path = $3',
}
/** Values: tenant, type, after, up to, limit. */
const EVENTS_BETWEEN: Statement = {
  name: 'events_between',
  text: `select ${EVENT_COLUMNS} from event where tenant = $1 and type = $2 and seq > $3 and seq <= $4 order by seq desc limit $5`,
}
/** Values: tenant, type, path, since; keys and sequences. */
const LIST: Statement = {
  name: 'list_values',
  text: `with listed as (
      insert into event_value (key, tenant, seq) select key, $1, seq from unnest($5::uuid[], $6::bigint[]) as v(key, seq)
      on conflict do nothing)
    update value_path set since = least(since, $4::bigint) where tenant = $1 and type = $2 and path = $3`,
}

/** A path of a query, and the sequence from which its list must be complete. */
type Asked = Pick<EventMatch, 'type' | 'path' | 'after'>

export class EventValues {
  readonly #database: Database
  readonly #lockAlone: (types: readonly string[]) => Command
  /** By tenant, type and path: the sequence after which the list is complete. It only ever decreases, so that a cached value stays true. */
  readonly #since = new Map<string, number>()

  constructor(database: Database, lockAlone: (types: readonly string[]) => Command) {
    this.#database = database
    this.#lockAlone = lockAlone
  }

  async find(query: EventQuery, matching: readonly EventMatch[]): Promise<readonly EventRow[]> {
    const { tenant, after = 0, limit, newest } = query
    for (const asked of byPath(matching)) await this.#complete(tenant, asked)
    const keys = matching.map((match) => keyOf(match) ?? '')
    const since = matching.map((match) => Math.max(after, match.after))
    const read = { statement: newest === true ? NEWEST : OLDEST, values: [tenant, keys, since, limit] }
    if (query.settled !== true) return this.#database.query(read.statement, read.values)
    const lock = this.#lockAlone([...new Set(matching.map(({ type }) => type))])
    const [, rows] = await this.#database.transaction<EventRow>([lock, read])
    return rows ?? []
  }

  /** Lists the earlier events that the query may need, newest first. */
  async #complete(tenant: string, { type, path, after }: Asked): Promise<void> {
    const name = `${tenant}\n${type}\n${path}`
    const known = this.#since.get(name)
    if (known !== undefined && known <= after) return
    let since = await this.#open(tenant, type, path)
    while (since > after) since = await this.#listSome(tenant, { type, path, after }, since)
    this.#since.set(name, since)
  }

  /**
   * Opens the path: from here on every append lists events of the type by it. The lock excludes appends that do not know the path yet: each
   * of them has committed before, with a sequence up to `since`, or begins after this commit and learns of the path.
   */
  async #open(tenant: string, type: string, path: string): Promise<number> {
    const since = { statement: SINCE, values: [tenant, type, path] }
    const [row] = await this.#database.query<{ since: number }>(SINCE, since.values)
    if (row !== undefined) return row.since
    const open = { statement: OPEN_PATH, values: [tenant, type, path] }
    const answers = await this.#database.transaction<{ since: number }>([this.#lockAlone([type]), open, since])
    return answers.at(-1)?.[0]?.since ?? 0
  }

  /** Returns the sequence after which the list is complete now. Several processes may list the same events. */
  async #listSome(tenant: string, { type, path, after }: Asked, since: number): Promise<number> {
    const rows = await this.#database.query<EventRow>(EVENTS_BETWEEN, [tenant, type, after, since, LISTED_AT_ONCE])
    const listed = rows.map(toEvent).flatMap(({ data, sequence }) => {
      const value = valueAt(data, path)
      return value === null ? [] : { key: keyOf({ type, path, value }) ?? '', sequence }
    })
    const next = rows.length < LISTED_AT_ONCE ? after : (rows.at(-1)?.seq ?? after) - 1
    const [keys, sequences] = [listed.map(({ key }) => key), listed.map(({ sequence }) => sequence)]
    await this.#database.query(LIST, [tenant, type, path, next, keys, sequences])
    return next
  }
}

/** Each path once, with the earliest sequence of its matches. */
const byPath = (matching: readonly EventMatch[]): Iterable<Asked> => {
  const asked = new Map<string, Asked>()
  for (const { type, path, after } of matching) {
    const key = `${type}\n${path}`
    asked.set(key, { type, path, after: Math.min(after, asked.get(key)?.after ?? after) })
  }
  return asked.values()
}
