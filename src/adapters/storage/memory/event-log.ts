/**
 * All events in order of their sequence, with lookup by identity, type and value.
 *
 * Owns sequences and identities. Stores text, never the caller's objects.
 */
import type { Event, StoredEvent } from '#model/event/event.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import { at, canonical } from '#model/kernel/json.ts'
import type { EventMatch, EventQuery, NewEvent, Suppression } from '#ports/ledger.ts'

export interface EventRow {
  readonly sequence: number
  readonly tenant: TenantId
  readonly type: string
  readonly appendId: string
  readonly dataHash: string
  /** The event as JSON. */
  readonly text: string
  readonly suppressed: readonly Suppression[]
  /** The runs that it started. */
  readonly runs: RunId[]
}

const identity = (event: Event): string => `${event.tenant}\n${event.source}\n${event.id}`
const topic = (tenant: TenantId, type: string): string => `${tenant}\n${type}`

/** Index of the first row with a sequence greater than `after`. */
const firstAfter = (rows: readonly EventRow[], after: number): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle]?.sequence ?? 0) > after) high = middle
    else low = middle + 1
  }
  return low
}

const toStored = (row: EventRow): StoredEvent => ({ ...(JSON.parse(row.text) as Event), sequence: row.sequence })

/** Indexes the row under the value at the path, if it has one. */
const list = (values: Map<string, EventRow[]>, path: string, row: EventRow): void => {
  const found = at((JSON.parse(row.text) as Event).data, path)
  if (found === undefined) return
  const value = canonical(found)
  const rows = values.get(value)
  if (rows === undefined) values.set(value, [row])
  else rows.push(row)
}

export class EventLog {
  readonly #rows: EventRow[] = []
  readonly #bySequence = new Map<number, EventRow>()
  readonly #byIdentity = new Map<string, EventRow>()
  readonly #byTopic = new Map<string, EventRow[]>()
  /** By topic, path and value; a path is indexed on its first query. */
  readonly #byValue = new Map<string, Map<string, Map<string, EventRow[]>>>()
  #last: number

  constructor(last: number) {
    this.#last = last
  }

  /** The highest sequence so far. */
  get position(): number {
    return this.#last
  }

  add(entry: NewEvent, appendId: string): EventRow {
    const { event, dataHash, suppressed } = entry
    this.#last += 1
    const row: EventRow = {
      sequence: this.#last,
      tenant: event.tenant,
      type: event.type,
      appendId,
      dataHash,
      text: JSON.stringify(event),
      suppressed: suppressed.map((one) => ({ ...one })),
      runs: [],
    }
    const key = topic(event.tenant, event.type)
    const sameTopic = this.#byTopic.get(key) ?? []
    sameTopic.push(row)
    this.#byTopic.set(key, sameTopic)
    for (const [path, values] of this.#byValue.get(key) ?? []) list(values, path, row)
    this.#rows.push(row)
    this.#bySequence.set(row.sequence, row)
    this.#byIdentity.set(identity(event), row)
    return row
  }

  bySequence(sequence: number): EventRow | undefined {
    return this.#bySequence.get(sequence)
  }

  byIdentity(event: Event): EventRow | undefined {
    return this.#byIdentity.get(identity(event))
  }

  /** Events of any source with this id, oldest first. */
  withId(tenant: TenantId, id: string): readonly StoredEvent[] {
    const found = [...this.#byIdentity].filter(([key]) => key.startsWith(`${tenant}\n`) && key.endsWith(`\n${id}`))
    return found.map(([, row]) => toStored(row)).sort((a, b) => a.sequence - b.sequence)
  }

  countAfter(tenant: TenantId, type: string, after: number): number {
    const rows = this.#byTopic.get(topic(tenant, type)) ?? []
    return rows.length - firstAfter(rows, after)
  }

  countMatching(tenant: TenantId, match: EventMatch): number {
    const rows = this.#valued(tenant, match)
    return rows.length - firstAfter(rows, match.after)
  }

  query(query: EventQuery): readonly StoredEvent[] {
    const after = query.after ?? 0
    const rows = this.#rowsOf(query, after)
      .filter((row) => row.tenant === query.tenant && row.sequence > after)
      .sort((a, b) => a.sequence - b.sequence)
    return (query.newest === true ? rows.slice(-query.limit) : rows.slice(0, query.limit)).map(toStored)
  }

  #rowsOf(query: EventQuery, after: number): EventRow[] {
    if (query.sequences !== undefined) return this.#named(query.sequences)
    if (query.matching === undefined) return this.#ofTypes(query, after)
    const found = query.matching.flatMap((match) => {
      const rows = this.#valued(query.tenant, match)
      return rows.slice(firstAfter(rows, match.after))
    })
    return [...new Set(found)]
  }

  #valued(tenant: TenantId, { type, path, value }: EventMatch): readonly EventRow[] {
    const key = topic(tenant, type)
    const paths = this.#byValue.get(key) ?? new Map<string, Map<string, EventRow[]>>()
    this.#byValue.set(key, paths)
    const known = paths.get(path)
    if (known !== undefined) return known.get(value) ?? []
    const values = new Map<string, EventRow[]>()
    for (const row of this.#byTopic.get(key) ?? []) list(values, path, row)
    paths.set(path, values)
    return values.get(value) ?? []
  }

  /** Newest first, below `before`. */
  page(query: { tenant: TenantId; type: string | null; before: number | null; limit: number }): readonly StoredEvent[] {
    const rows = query.type === null ? this.#rows : (this.#byTopic.get(topic(query.tenant, query.type)) ?? [])
    const page: StoredEvent[] = []
    for (let i = firstAfter(rows, (query.before ?? Infinity) - 1) - 1; i >= 0 && page.length < query.limit; i--) {
      const row = rows[i] as EventRow
      if (row.tenant === query.tenant) page.push(toStored(row))
    }
    return page
  }

  #ofTypes(query: EventQuery, after: number): EventRow[] {
    if (query.types === undefined) return this.#rows.slice(firstAfter(this.#rows, after))
    return [...new Set(query.types)].flatMap((type) => {
      const rows = this.#byTopic.get(topic(query.tenant, type)) ?? []
      const start = firstAfter(rows, after)
      return query.newest === true
        ? rows.slice(Math.max(start, rows.length - query.limit))
        : rows.slice(start, start + query.limit)
    })
  }

  #named(sequences: readonly number[]): EventRow[] {
    return [...new Set(sequences)].flatMap((sequence) => this.#bySequence.get(sequence) ?? [])
  }
}
