/**
 * A process that stood still (stopped, swapped out, its loop blocked) for so long that others may have taken its runs.
 *
 * Owns what it lets go of when it notices. That it stood still is for leases.ts to say.
 *
 * standstill-1  It lets go of every run with a `once` attempt under way before it does anything else with it: the code of the attempt
 *               sees its signal, and what it answers is evidence.
 */
import type { ActiveRun } from '#engine/run/active-run.ts'

/** Whether an attempt that may happen once is under way here. */
const isAtOnce = ({ live, record }: ActiveRun): boolean =>
  live?.open.some((open) => open.kind === 'intended' && open.performer?.epoch === record.epoch) === true

/** `ms`: how long it stood still; 0: it did not. */
export const dropAfterStandstill = (ms: number, activeRuns: ReadonlyMap<unknown, ActiveRun>): void => {
  if (ms === 0) return
  const message = `the process stood still for ${Math.round(ms)} ms and may have lost the run`
  for (const activeRun of [...activeRuns.values()])
    if (isAtOnce(activeRun)) activeRun.drop('dropped', { code: 'STEP_ABORTED', message })
}
