/**
 * Lets a child find out that its parent has ended.
 *
 * Owns looking. The parent's end signals its children in its own append, so that a child looks also after a crash of either.
 *
 * parent-end-1  A run whose parent has ended is cancelled before it begins another step, unless it goes on by itself (child-retry-4).
 */

import { isRunId } from '#model/kernel/ids.ts'
import { endsWithParent } from '#model/run/child-retry.ts'
import { isEnded } from '#model/run/status.ts'
import type { ActiveRun } from './active-run.ts'
import { plainRequest } from './run-request.ts'

/** Returns true if the run was asked to end. */
export const offerParentEnd = async (activeRun: ActiveRun): Promise<boolean> => {
  const { context, record, live } = activeRun
  const { parent } = record
  if (parent === null || !isRunId(parent) || live === null || !endsWithParent(live)) return false
  const [head] = await context.ledger.load([parent], { after: Number.MAX_SAFE_INTEGER })
  if (head == null || !isEnded(head.status)) return false
  const error = { code: 'RUN_CANCELLED', message: `its parent ${parent} ended with ${head.status}` } as const
  const command = { type: 'cancel_run', now: context.clock.now(), by: 'trihand', error, idle: false } as const
  activeRun.ask(plainRequest(command))
  return true
}
