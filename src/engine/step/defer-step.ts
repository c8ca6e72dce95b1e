/**
 * A step that may not begin yet: its run waits for an instant as it would for a timer, in memory or out of it, and no attempt is used. And
 * a run none of whose steps may, because everything was stopped: it leaves memory and is due for whoever works again.
 *
 * Owns the timer's address, and how a run makes way. Never decides why or until when (circuits.ts, model/worker/worker-control.ts).
 */
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { Instant } from '#model/kernel/ids.ts'

/** The instant is part of the address: a run that is entered again meanwhile finds the same timer. */
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
  if (begins) activeRun.ask({ command, sideWrites: null, done: null })
}

/** Its code is entered anew later, as after a pause; what is under way ends first. */
export const makeWay = (activeRun: ActiveRun): void => {
  activeRun.entry = 'over'
  activeRun.considerParking()
}

/** Everything was stopped. Code that waits for no step is at work itself: it may finish, and makes way when it asks for one. */
export const evict = (activeRun: ActiveRun): void => {
  if (activeRun.entry === 'inside' && !activeRun.waiters.isEmpty) makeWay(activeRun)
}
