/**
 * A decision in progress: the facts so far and the schedule's state after them.
 *
 * Owns how one fact of a decision sees those before it. Local to one call of decide; never stored.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { LiveSchedule, ScheduleFact, ScheduleWorld, SkipReason } from './fact.ts'
import { evolveSchedule } from './fold.ts'

export interface Draft {
  state: LiveSchedule
  readonly facts: ScheduleFact[]
  readonly now: Instant
  readonly world: ScheduleWorld
}

export const record = (draft: Draft, fact: ScheduleFact): void => {
  draft.facts.push(fact)
  const next = evolveSchedule(draft.state, fact)
  if (next.kind === 'live') draft.state = next
}

/** Records one range fact for consecutive slots. */
export const skip = (draft: Draft, slots: readonly Instant[], reason: SkipReason): void => {
  const [from, to] = [slots[0], slots.at(-1)]
  if (from === undefined || to === undefined) return
  record(draft, { type: 'schedule.skipped', at: draft.now, reason, from, to, count: slots.length })
}
