/**
 * Open waits: the rows that events are matched with.
 *
 * Owns opening and closing them, and the check whether an event came before the wait (ledger-5). Never wakes a run (signal.ts).
 */
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { WaitRow } from '#ports/ledger.ts'
import { hasUnseenValue, openPath } from './values.ts'

/** Path and value of a wait for the type alone. */
export const ON_TYPE_ALONE = ''

/** True if there are other events than the writer has seen. */
export const hasUnseenEvent = (scope: Scope, tenant: string, waits: readonly WaitRow[]): boolean =>
  waits.some((wait) => {
    if (wait.path !== ON_TYPE_ALONE) return hasUnseenValue(scope, tenant, wait)
    const { type, base, seen } = wait
    return scope.sql.countEvents.get(type, tenant, base, seen + 1)?.['count'] !== seen
  })

export const openWaits = (scope: Scope, key: number, tenant: string, waits: readonly WaitRow[]): void => {
  const { sql, known } = scope
  for (const { step, type, path, value } of waits) {
    sql.openWait.run(key, step, type, path, value)
    if (path !== ON_TYPE_ALONE) openPath(scope, { tenant, type, path })
    else if (known.addPath(sql, type, path)) sql.addWaitPath.run(type, path)
  }
}

export const closeWaits = ({ sql }: Scope, key: number, steps: readonly string[]): void => {
  for (const step of steps) sql.closeWait.run(key, step)
}
