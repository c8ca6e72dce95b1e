/**
 * The last slots of a schedule, for people: the run of each and how it ended, or why it had none.
 *
 * Owns the reading of facts as a list of slots. Decides nothing; works on any tail of the facts.
 */
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { RunOrigin, ScheduledRun, ScheduleFact, SkipReason } from './fact.ts'

/** One slot, or a range of slots that had no run. */
export interface PastSlot {
  readonly slot: Instant
  /** The last slot of a range; for one slot, the slot itself. */
  readonly until: Instant
  readonly count: number
  /** `waiting`: in the line. */
  readonly outcome: RunStatus | 'waiting' | 'skipped'
  readonly run: RunId | null
  readonly origin: RunOrigin | null
  readonly reason: SkipReason | null
}

const one = ({ slot, run, origin }: ScheduledRun, outcome: PastSlot['outcome']): PastSlot => ({
  slot,
  until: slot,
  count: 1,
  outcome,
  run,
  origin,
  reason: null,
})

const outcomeOf = (slots: readonly PastSlot[], run: RunId, outcome: PastSlot['outcome']): readonly PastSlot[] =>
  slots.map((past) => (past.run === run ? { ...past, outcome } : past))

const isKnown = (slots: readonly PastSlot[], run: RunId): boolean => slots.some((past) => past.run === run)

const after = (slots: readonly PastSlot[], fact: ScheduleFact): readonly PastSlot[] => {
  switch (fact.type) {
    case 'schedule.fired':
      return isKnown(slots, fact.run) ? outcomeOf(slots, fact.run, 'running') : [...slots, one(fact, 'running')]
    case 'schedule.buffered':
      return [...slots, ...fact.runs.map((run) => one(run, 'waiting'))]
    case 'schedule.run_ended':
      return outcomeOf(slots, fact.run, fact.status)
    case 'schedule.skipped': {
      const { from, to, count, reason } = fact
      // A slot that waited and was displaced is listed once: as skipped.
      const stay = slots.filter(({ slot, outcome }) => outcome !== 'waiting' || slot < from || slot > to)
      return [...stay, { slot: from, until: to, count, outcome: 'skipped', run: null, origin: null, reason }]
    }
    default:
      return slots
  }
}

/** Returns the last `most` slots, oldest first. */
export const pastSlots = (facts: readonly ScheduleFact[], most: number): readonly PastSlot[] =>
  facts.reduce(after, [] as readonly PastSlot[]).slice(-most)
