/**
 * Signals, which wake a run: by an event that it waits for, or by an append that names it.
 *
 * Owns how an event matches waits (ledger-5) and what a signal does to a run (ledger-6). Never opens or closes a wait.
 */
import { valueAt } from '#adapters/storage/event-values.ts'
import { rowAs, SESSION, type StreamRow, toClaimableId } from '#adapters/storage/sqlite/rows.ts'
import { type Context, findStream, type Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Event } from '#model/event/event.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import { listValue } from './values.ts'
import { ON_TYPE_ALONE } from './wait.ts'

/** For an append without an instant, the time of the stream's last fact: no clock that has seen the fact is before it. */
export const dueAtOnce = (
  { facts }: Scope,
  { key, version }: Pick<StreamRow, 'key' | 'version'>,
  now: Instant | null,
): Instant => now ?? Number(facts.at(key, version - 1)?.['recorded_at'] ?? 0)

/** Also lists the event by its values, so that each is extracted once. */
export const signalWaiting = (scope: Scope, event: Event, sequence: number, context: Context): void => {
  const { sql, known, facts } = scope
  const { type, tenant } = event
  const signalled: number[] = []
  const paths = known.paths(sql, type)
  // A run may have parked in this very batch.
  if (paths.size > 0) facts.flush()
  for (const path of paths) {
    const value = path === ON_TYPE_ALONE ? ON_TYPE_ALONE : valueAt(event.data, path)
    if (value === null) continue
    if (path !== ON_TYPE_ALONE) listValue(scope, event, sequence, path, value)
    const rows = sql.signalWaiting.all(context.now, type, path, value, tenant, JSON.stringify(signalled))
    for (const row of rows.map(rowAs<Signalled>)) {
      signalled.push(row.key)
      note(scope, row, context)
    }
  }
}

export const signalNamed = (scope: Scope, run: ClaimableId, context: Context): void => {
  const row = findStream(scope, run)
  if (row !== null) raise(scope, row, context)
}

/** Always counts the signal; makes the run due at once if it has no lease. Ignores sessions, and runs that have ended. */
const raise = (scope: Scope, row: StreamRow, context: Context): void => {
  if (row.kind === SESSION || isEnded(row.status)) return
  const wakeAt =
    row.lease === null ? Math.min(row.wake_at ?? Infinity, dueAtOnce(scope, row, context.now)) : row.wake_at
  scope.sql.signalStream.run(wakeAt, row.key)
  note(scope, row, context)
}

type Signalled = Pick<StreamRow, 'key' | 'id' | 'lane'>

/** Updates the cache for a stream whose row was signalled. */
const note = ({ known }: Scope, { id, lane }: Signalled, { signalled }: Context): void => {
  const stream = toClaimableId(id)
  const held = known.held(stream)
  if (held !== undefined) held.signal += 1
  known.moveIn(lane)
  signalled.add(stream)
}
