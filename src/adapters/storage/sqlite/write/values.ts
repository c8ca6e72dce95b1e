/**
 * Events by the values they hold (ledger-11): listed when they are written, and those of before when somebody asks for them.
 *
 * Owns the tables event_value and value_path. Who is woken by an event is signal.ts.
 */
import { LISTED_AT_ONCE, valueAt, valueKey } from '#adapters/storage/event-values.ts'
import { toEvent } from '#adapters/storage/sqlite/rows.ts'
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import type { Event } from '#model/event/event.ts'
import type { EventMatch, WaitRow } from '#ports/ledger.ts'
import type { Known } from './row-cache.ts'

type WriteScope = Pick<Scope, 'sql' | 'known'>

interface Place {
  readonly tenant: string
  readonly type: string
  readonly path: string
}

/** An event that is written now, under the value it holds at a path. */
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

/** Whether there are other events with the value than the writer has looked at, or events whose values nobody has listed. */
export const hasUnseenValue = (
  { sql, known }: WriteScope,
  tenant: string,
  { type, path, value, base, seen }: WaitRow,
): boolean => {
  const since = known.since(sql, tenant, type, path) ?? Number.MAX_SAFE_INTEGER
  if (since > base && sql.hasEventBetween.get(type, tenant, base, since) !== undefined) return true
  return sql.countValues.get(valueKey({ type, path, value }), tenant, base, seen + 1)?.['count'] !== seen
}

/** The paths of these that are not complete as far back as they are asked for, and from where on. */
const incomplete = (sql: Statements, known: Known, tenant: string, matching: readonly EventMatch[]) => {
  const asked = new Map<string, Place & { readonly after: number }>()
  for (const { type, path, after } of matching) {
    const key = `${type}\n${path}`
    asked.set(key, { tenant, type, path, after: Math.min(after, asked.get(key)?.after ?? after) })
  }
  return [...asked.values()].filter(
    ({ type, path, after }) => (known.since(sql, tenant, type, path) ?? Infinity) > after,
  )
}

/** Whether all events that these could describe are listed. */
export const isListed = ({ sql, known }: WriteScope, tenant: string, matching: readonly EventMatch[]): boolean =>
  incomplete(sql, known, tenant, matching).length === 0

/** Lists some events of before, the newest first: of one path after the other, as far as the bound allows. */
export const listSome = (scope: WriteScope, tenant: string, matching: readonly EventMatch[]): void => {
  let room = LISTED_AT_ONCE
  for (const place of incomplete(scope.sql, scope.known, tenant, matching)) {
    room -= listPlace(scope, place, room)
    if (room <= 0) return
  }
}

/** Answers how many events were read, at most `limit`. */
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
