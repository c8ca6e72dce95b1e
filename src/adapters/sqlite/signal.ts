/**
 * Signals: what makes a run look again. An event that it waits for, or an append that names it.
 *
 * Owns the match of an event with the waits (ledger-5) and what a signal does to a run (ledger-6). Never opens or closes a wait.
 */
import type { Event } from '../../model/event.ts'
import type { ClaimableId, Instant } from '../../model/ids.ts'
import { at, canonical } from '../../model/json.ts'
import { isEnded } from '../../model/status.ts'
import { rowAs, SESSION, type StreamRow, toClaimableId } from './rows.ts'
import { type Context, findStream, type Scope } from './scope.ts'
import { ON_TYPE_ALONE } from './wait.ts'

/** Of an append that names no time, the time of the stream's last fact: not later than any clock that has seen it. */
export const dueAtOnce = (
  { facts }: Scope,
  { key, version }: Pick<StreamRow, 'key' | 'version'>,
  now: Instant | null,
): Instant => now ?? Number(facts.at(key, version - 1)?.['recorded_at'] ?? 0)

export const signalWaiting = (scope: Scope, event: Event, context: Context): void => {
  const { sql, known } = scope
  const seen = new Set<number>()
  for (const path of known.paths(sql, event.type)) {
    const value = valueAt(event, path)
    if (value === null) continue
    for (const row of sql.matchWaits.all(event.type, path, value, event.tenant).map(rowAs<StreamRow>)) {
      if (!seen.has(row.key)) raise(scope, row, context)
      seen.add(row.key)
    }
  }
}

export const signalNamed = (scope: Scope, run: ClaimableId, context: Context): void => {
  const row = findStream(scope, run)
  if (row !== null) raise(scope, row, context)
}

const valueAt = (event: Event, path: string): string | null => {
  if (path === ON_TYPE_ALONE) return ON_TYPE_ALONE
  const value = at(event.data, path)
  return value === undefined ? null : canonical(value)
}

/** Counted always, and due at once if nobody holds it. A session is never woken, and nothing wakes a run that has ended. */
const raise = (scope: Scope, row: StreamRow, { now, signalled }: Context): void => {
  if (row.kind === SESSION || isEnded(row.status)) return
  const wakeAt = row.lease === null ? Math.min(row.wake_at ?? Infinity, dueAtOnce(scope, row, now)) : row.wake_at
  scope.sql.signalStream.run(wakeAt, row.key)
  scope.known.moveIn(row.lane)
  signalled.add(toClaimableId(row.id))
}
