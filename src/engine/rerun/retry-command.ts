/**
 * Makes the command that reopens an ended run, with what it needs to know of the time since: which waits begin anew, and which events
 * do not end the new life.
 *
 * Owns only the command. What a new life goes on with is model/run/reopen.ts.
 */
import type { RetryIntent } from '#engine/coordinators/gate-config.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { RunCommand, RunFact } from '#model/run/fact.ts'
import { waitsAnew } from '#model/run/reopen.ts'
import type { StreamRecord } from '#ports/ledger.ts'

export const retryCommand = (
  { by, kind, call, heard }: RetryIntent,
  now: Instant,
  happened: readonly RunFact[],
): Extract<RunCommand, { readonly type: 'retry_run' }> => ({
  ...{ type: 'retry_run', now, by, kind, anew: waitsAnew(happened) },
  ...(call !== undefined && { call }),
  ...(heard !== undefined && { heard }),
})

/** Reads the last event so far that could end the run by `cancel_on` (run-reopen-2). */
export const lastCancelEvent = async (
  context: Pick<EngineContext, 'ledger' | 'system' | 'tenant'>,
  record: StreamRecord | null | undefined,
): Promise<Pick<RetryIntent, 'heard'>> => {
  const rules = record == null ? [] : (context.system().functions.get(record.handler)?.cancelOn ?? [])
  if (record == null || rules.length === 0) return {}
  const types = [...new Set(rules.map(({ event }) => event))]
  const { tenant } = context
  const [last] = await context.ledger.events({ tenant, types, after: record.base, newest: true, limit: 1 })
  return last === undefined ? {} : { heard: last.sequence }
}
