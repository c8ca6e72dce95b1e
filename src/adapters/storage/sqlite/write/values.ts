/**
 * Events by the values they hold (ledger-11): listed when they are written; earlier ones are listed on the first query for them.
 *
 * Owns the tables event_value and value_path. signal.ts decides which runs an event wakes.
 */
import { LISTED_AT_ONCE, valueAt, valueKey } from '#adapters/storage/event-values.ts'
import { toEvent } from '#adapters/storage/sqlite/rows.ts'
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import type { Event } from '#model/event/event.ts'
import type { EventMatch, WaitRow } from '#ports/ledger.ts'
import type { RowCache } from './row-cache.ts'

type WriteScope = Pick<Scope, 'sql' | 'known'>

interface Place {
  readonly tenant: string
  readonly type: string
  readonly path: string
}

/** Lists an event that is being written under its value at a path. */
export const listValue = (
  { sql }: WriteScope,
  { tenant, type }: Event,
  sequence: number,
  path: string,
  value: string,
): void => {
  sql.addValue.run(valueKey({ type, path, value }), tenant, sequence)
}

/** From here on events of the type are listed by this path. */
export const openPath = ({ sql, known }: WriteScope, { tenant, type, path }: Place): void => {
  if (known.since(sql, tenant, type, path) !== null) return
  const since = known.position(sql)
  sql.addValuePath.run(tenant, type, path, since)
  if (known.addPath(sql, type, path)) sql.addWaitPath.run(type, path)
  known.moveSince(tenant, type, path, since)
}

/** True if there are other events with the value than the writer has seen, or events that are not listed by their values. */
export const hasUnseenValue = (
  { sql, known }: WriteScope,
  tenant: string,
  { type, path, value, base, seen }: WaitRow,
): boolean => {
  const since = known.since(sql, tenant, type, path) ?? Number.MAX_SAFE_INTEGER
  if (since > base && sql.hasEventBetween.get(type, tenant, base, since) !== undefined) return true
  return sql.countValues.get(valueKey({ type, path, value }), tenant, base, seen + 1)?.['count'] !== seen
}

/** The paths whose lists do not go back far enough for the matches, and the sequence from which each must be complete. */
const incomplete = (sql: Statements, known: RowCache, tenant: string, matching: readonly EventMatch[]) => {
  const asked = new Map<string, Place & { readonly after: number }>()
  for (const { type, path, after } of matching) {
    const key = `${type}\n${path}`
    asked.set(key, { tenant, type, path, after: Math.min(after, asked.get(key)?.after ?? after) })
  }
  return [...asked.values()].filter(
    ({ type, path, after }) => (known.since(sql, tenant, type, path) ?? Infinity) > after,
  )
}

/** True if all events that the matches could describe are listed. */
export const isListed = ({ sql, known }: WriteScope, tenant: string, matching: readonly EventMatch[]): boolean =>
  incomplete(sql, known, tenant, matching).length === 0

/** Lists some earlier events, newest first: one path after the other, up to the limit. */
export const listSome = (scope: WriteScope, tenant: string, matching: readonly EventMatch[]): void => {
  let room = LISTED_AT_ONCE
  for (const place of incomplete(scope.sql, scope.known, tenant, matching)) {
    room -= listPlace(scope, place, room)
    if (room <= 0) return
  }
}

/** Returns how many events were read, at most `limit`. */
const listPlace = (scope: WriteScope, place: Place & { readonly after: number }, limit: number): number => {
  const { sql, known } = scope
  const { tenant, type, path, after } = place
  openPath(scope, place)
  const since = known.since(sql, tenant, type, path) ?? after
  const events = sql.eventsBetween.all(type, tenant, after, since, limit).map(toEvent)
  for (const event of events) {
    const value = valueAt(event.data, path)
    if (value !== null) listValue(scope, event, event.sequence, path, value)
  }
  const listed = events.length < limit ? after : (events.at(-1)?.sequence ?? after) - 1
  sql.moveValuePath.run(Math.min(since, listed), tenant, type, path)
  known.moveSince(tenant, type, path, Math.min(since, listed))
  return events.length
}
