/**
 * A process that stood still (stopped, swapped out, its event loop blocked) for so long that other workers may have taken its runs.
 *
 * Owns which runs it drops when it notices. leases.ts detects that it stood still.
 *
 * standstill-1  It drops every run with a `once` attempt under way before it does anything else with the run: the signal of the
 *               attempt is aborted, and what its code answers is evidence.
 */
import type { ActiveRun } from '#engine/run/active-run.ts'

/** True if an attempt that may happen once is under way in this process. */
const isAtOnce = ({ live, record }: ActiveRun): boolean =>
  live?.open.some((open) => open.kind === 'intended' && open.performer?.epoch === record.epoch) === true

/** `ms`: how long the process stood still; 0 if it did not. */
export const dropAfterStandstill = (ms: number, activeRuns: ReadonlyMap<unknown, ActiveRun>): void => {
  if (ms === 0) return
  const message = `the process was blocked for ${Math.round(ms)} ms and may have lost the run`
  for (const activeRun of [...activeRuns.values()])
    if (isAtOnce(activeRun)) activeRun.drop('dropped', { code: 'STEP_ABORTED', message })
}
