/**
 * Computes which slots of a schedule are due, and when the next one is.
 *
 * Owns the reading of the calendar. Never decides what happens to a slot (missed.ts, line.ts).
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { LiveSchedule, ScheduleState } from './fact.ts'
import { isOwnSlot, isPaced, startableRuns } from './fold.ts'
import type { Calendar, CalendarOf } from './spec.ts'

/** Slots looked at in one decision; if there are more, the schedule is due again at once. */
const MAX_LOOK = 100_000
/** The last instant that a clock can show. */
const END_OF_TIME = 8.64e15

/** Returns how many more runs max_runs allows: runs in the line are counted already. */
export const runsLeft = ({ spec, fired, line }: LiveSchedule): number =>
  spec.maxRuns === null ? Number.POSITIVE_INFINITY : spec.maxRuns - fired - line.filter(isOwnSlot).length

const pulseSlot = ({ pulse, spec }: LiveSchedule): Instant | null => {
  if (pulse === null) return null
  const slot = pulse.base + pulse.intervalMs
  return spec.end !== null && slot > spec.end ? null : slot
}

export const nextSlot = (state: LiveSchedule, calendarOf: CalendarOf): Instant | null => {
  if (runsLeft(state) <= 0) return null
  if (state.pulse !== null) return pulseSlot(state)
  for (const slot of calendarOf(state.spec).slots(state.cursor, END_OF_TIME)) return slot
  return null
}

/** Returns the next slots after an instant, at most `most`; for an adaptive schedule only the next one is known. */
export const comingSlots = (
  state: ScheduleState,
  calendarOf: CalendarOf,
  { after, most }: { readonly after: Instant; readonly most: number },
): readonly Instant[] => {
  if (state.kind !== 'live') return []
  const wanted = Math.min(most, runsLeft(state))
  const pulse = pulseSlot(state)
  if (pulse !== null) return wanted > 0 ? [pulse] : []
  const slots: Instant[] = []
  if (state.pulse !== null || wanted <= 0) return slots
  for (const slot of calendarOf(state.spec).slots(Math.max(state.cursor, after), END_OF_TIME)) {
    slots.push(slot)
    if (slots.length >= wanted) break
  }
  return slots
}

/** The delay is a hash: it is computed only where it can matter. */
export const isDueBy = (instant: Instant, slot: Instant, jitterMs: number, calendar: Calendar): boolean =>
  slot + jitterMs <= instant || slot + calendar.delayMs(slot) <= instant

export interface DueSlots {
  readonly slots: readonly Instant[]
  /** There are more due slots: these are certainly not the newest. */
  readonly more: boolean
}

/** Returns the slots after the cursor whose time has come. `early`: also those whose nominal instant has passed while their jitter has not. */
export const dueSlots = (state: LiveSchedule, now: Instant, calendarOf: CalendarOf, early: boolean): DueSlots => {
  if (state.pulse !== null) {
    const slot = pulseSlot(state)
    return { slots: slot === null || slot > now ? [] : [slot], more: false }
  }
  const calendar = calendarOf(state.spec)
  const slots: Instant[] = []
  for (const slot of calendar.slots(state.cursor, now)) {
    if (!early && !isDueBy(now, slot, state.spec.jitterMs, calendar)) break
    if (slots.length === MAX_LOOK) return { slots, more: true }
    slots.push(slot)
  }
  return { slots, more: false }
}

const lineReadyAt = (state: LiveSchedule): Instant | null => {
  const { running, spec, paceAt } = state
  const [head] = startableRuns(state)
  if (head === undefined || (spec.overlap !== 'allow' && running.length > 0)) return null
  return isPaced(head) ? paceAt : null
}

/** Returns when time next matters to this schedule; null: only a signal wakes it. */
export const scheduleWakeAt = (state: ScheduleState, calendarOf: CalendarOf): Instant | null => {
  if (state.kind !== 'live') return null
  if (state.paused !== null) return lineReadyAt(state)
  const slot = nextSlot(state, calendarOf)
  const dueAt = slot === null || state.pulse !== null ? slot : slot + calendarOf(state.spec).delayMs(slot)
  const readyAt = lineReadyAt(state)
  if (dueAt === null || readyAt === null) return dueAt ?? readyAt
  return Math.min(dueAt, readyAt)
}
