/**
 * Events in the ledger: written once per identity, read back by type or by sequence.
 *
 * Owns their rows. Never decides who listens (signal.ts).
 */
import type { StoredEvent } from '../../model/event.ts'
import type { EventQuery, NewEvent } from '../../ports/ledger.ts'
import { toEvent } from './rows.ts'
import type { Scope } from './scope.ts'
import type { Statements } from './statements.ts'

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
    ...[JSON.stringify(chain), JSON.stringify(data), dataHash, appendId],
  )
  if (added.changes !== 1) return null
  const sequence = Number(added.lastInsertRowid)
  known.moveTo(sequence)
  for (const { trigger, reason, detail } of suppressed) sql.addSuppressed.run(sequence, trigger, reason, detail)
  return sequence
}

export const findEvents = (sql: Statements, query: EventQuery): readonly StoredEvent[] => {
  const rows = query.sequences === undefined ? ofTypes(sql, query) : named(sql, query, query.sequences)
  return rows
    .map(toEvent)
    .sort((a, b) => a.sequence - b.sequence)
    .slice(0, query.limit)
}

/** One walk of the index per type, merged afterwards: the index holds each type in order, not several. */
const ofTypes = (sql: Statements, { tenant, types, after = 0, limit }: EventQuery) =>
  types === undefined
    ? sql.eventsAfter.all(tenant, after, limit)
    : [...new Set(types)].flatMap((type) => sql.eventsOfType.all(type, tenant, after, limit))

const named = (sql: Statements, { tenant, after = 0 }: EventQuery, sequences: readonly number[]) =>
  sql.eventsBySequence.all(JSON.stringify(sequences), after, tenant)
