/**
 * All events in order of their sequence, found by identity and by type.
 *
 * Owns sequences and identities. Keeps text, never the caller's objects.
 */
import type { Event, StoredEvent } from '../../model/event.ts'
import type { RunId, TenantId } from '../../model/ids.ts'
import type { EventQuery, NewEvent, Suppression } from '../../ports/ledger.ts'

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

export class EventLog {
  readonly #rows: EventRow[] = []
  readonly #bySequence = new Map<number, EventRow>()
  readonly #byIdentity = new Map<string, EventRow>()
  readonly #byTopic = new Map<string, EventRow[]>()
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

  /** Of any source, oldest first. */
  withId(tenant: TenantId, id: string): readonly StoredEvent[] {
    const found = [...this.#byIdentity].filter(([key]) => key.startsWith(`${tenant}\n`) && key.endsWith(`\n${id}`))
    return found.map(([, row]) => toStored(row)).sort((a, b) => a.sequence - b.sequence)
  }

  countAfter(tenant: TenantId, type: string, after: number): number {
    const rows = this.#byTopic.get(topic(tenant, type)) ?? []
    return rows.length - firstAfter(rows, after)
  }

  query(query: EventQuery): readonly StoredEvent[] {
    const after = query.after ?? 0
    const rows = query.sequences === undefined ? this.#ofTypes(query, after) : this.#named(query.sequences)
    return rows
      .filter((row) => row.tenant === query.tenant && row.sequence > after)
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, query.limit)
      .map(toStored)
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
      return rows.slice(start, start + query.limit)
    })
  }

  #named(sequences: readonly number[]): EventRow[] {
    return [...new Set(sequences)].flatMap((sequence) => this.#bySequence.get(sequence) ?? [])
  }
}
