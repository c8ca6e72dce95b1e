/**
 * Events in the ledger: written once per identity, read by type, by value or by sequence.
 *
 * Owns their rows. Never decides which runs an event wakes (signal.ts).
 */
import { valueKey } from '#adapters/storage/event-values.ts'
import { toEvent } from '#adapters/storage/sqlite/rows.ts'
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import { requestersText } from '#model/access/requester.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { EventMatch, EventQuery, NewEvent } from '#ports/ledger.ts'

/** The event's sequence, or null if its identity is taken. */
export const addEvent = (
  { sql, known }: Scope,
  { event, dataHash, suppressed }: NewEvent,
  appendId: string,
): number | null => {
  const { tenant, source, id, type, subject, time, correlationId, causationId, traceparent, hops, chain, data } = event
  const correlation = correlationId === id ? null : correlationId
  const added = sql.addEvent.run(
    ...[tenant, source, id, type, subject, time, correlation, causationId, traceparent, hops],
    ...[JSON.stringify(chain), JSON.stringify(data), dataHash, appendId, requestersText(event)],
  )
  if (added.changes !== 1) return null
  const sequence = Number(added.lastInsertRowid)
  known.moveTo(sequence)
  for (const { trigger, reason, detail } of suppressed) sql.addSuppressed.run(sequence, trigger, reason, detail)
  return sequence
}

export const findEvents = (sql: Statements, query: EventQuery): readonly StoredEvent[] => {
  const found = rowsOf(sql, query).map(toEvent)
  // An event may hold several values.
  const once =
    query.matching === undefined ? found : [...new Map(found.map((event) => [event.sequence, event])).values()]
  const events = once.sort((a, b) => a.sequence - b.sequence)
  return query.newest === true ? events.slice(-query.limit) : events.slice(0, query.limit)
}

const rowsOf = (sql: Statements, query: EventQuery) => {
  if (query.sequences !== undefined) return named(sql, query, query.sequences)
  return query.matching === undefined ? ofTypes(sql, query) : ofValues(sql, query, query.matching)
}

/** One scan of the list per value. */
const ofValues = (
  sql: Statements,
  { tenant, after = 0, limit, newest }: EventQuery,
  matching: readonly EventMatch[],
) => {
  const statement = newest === true ? sql.newestOfValue : sql.eventsOfValue
  return matching.flatMap(({ type, path, value, after: since }) =>
    statement.all(valueKey({ type, path, value }), tenant, Math.max(after, since), limit),
  )
}

/** One scan of the index per type, merged afterwards: the index has each type in order, but not several. */
const ofTypes = (sql: Statements, { tenant, types, after = 0, limit, newest }: EventQuery) =>
  types === undefined
    ? sql.eventsAfter.all(tenant, after, limit)
    : [...new Set(types)].flatMap((type) =>
        (newest === true ? sql.newestOfType : sql.eventsOfType).all(type, tenant, after, limit),
      )

const named = (sql: Statements, { tenant, after = 0 }: EventQuery, sequences: readonly number[]) =>
  sql.eventsBySequence.all(JSON.stringify(sequences), after, tenant)
