/**
 * Defers a step that may not begin yet: its run waits as for a timer, in memory or parked, and no attempt is used. Also evicts a run
 * whose steps may not begin because the worker was stopped: it leaves memory and is due for the next worker that works.
 *
 * Owns the timer's name, and how a run is evicted. Never decides why or until when (circuits.ts, model/worker/worker-control.ts).
 */

import type { ActiveRun } from '#engine/run/active-run.ts'
import { plainRequest } from '#engine/run/run-request.ts'
import type { Instant } from '#model/kernel/ids.ts'

/** The instant is part of the timer's name: a run that is entered again in the meantime finds the same timer. */
export const holdUntil = (activeRun: ActiveRun, step: string, until: Instant, again: () => void): void => {
  const { live, waiters, context } = activeRun
  const timer = `${step}~circuit[${until}]`
  const begins =
    live !== null && !live.settled.has(timer) && live.open.get(timer) === undefined && !waiters.isAwaited(timer)
  waiters.hold(step, true)
  activeRun.whenSettled(timer, () => {
    waiters.hold(step, false)
    again()
  })
  const command = { type: 'set_timer', now: context.clock.now(), step: timer, wakeAt: until } as const
  if (begins) activeRun.ask(plainRequest(command))
}

/** The run leaves memory and its code is entered again later, as after a pause; attempts under way end first. */
export const makeWay = (activeRun: ActiveRun): void => {
  activeRun.entry = 'over'
  activeRun.considerParking()
}

/** Called when the worker was stopped. Code that waits for no step is running: it may finish, and is evicted when it asks for a step. */
export const evict = (activeRun: ActiveRun): void => {
  if (activeRun.entry === 'inside' && !activeRun.waiters.isEmpty) makeWay(activeRun)
}
