/**
 * A step that may not begin yet: its run waits for an instant as it would for a timer, in memory or out of it, and no attempt is used.
 *
 * Owns the timer's address. Never decides why or until when (circuits.ts).
 */
import type { Instant } from '../model/ids.ts'
import type { Resident } from './resident.ts'

/** The instant is part of the address: a run that is entered again meanwhile finds the same timer. */
export const holdUntil = (resident: Resident, step: string, until: Instant, again: () => void): void => {
  const { live, waiters, house } = resident
  const timer = `${step}~circuit[${until}]`
  const begins =
    live !== null && !live.settled.has(timer) && live.open.get(timer) === undefined && !waiters.isAwaited(timer)
  waiters.hold(step, true)
  resident.whenSettled(timer, () => {
    waiters.hold(step, false)
    again()
  })
  const command = { type: 'set_timer', now: house.clock.now(), step: timer, wakeAt: until } as const
  if (begins) resident.ask({ command, luggage: null, done: null })
}
