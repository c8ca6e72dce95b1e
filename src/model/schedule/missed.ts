/**
 * Decides what happens to slots whose time has come: a run for each, one run for all, or a recorded miss.
 *
 * Owns lateness: grace, window and the missed policies. A slot is missed if it was not seen within its grace, or if the next one came first.
 * line.ts decides whether runs may overlap.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { type Draft, skip } from './draft.ts'
import { dueSlots, isDueBy, runsLeft } from './due.ts'
import { enqueue, planRun, release, start } from './line.ts'

/** Records the slots that fell into a pause as skipped, and returns the others. */
const afterPause = (draft: Draft, slots: readonly Instant[]): readonly Instant[] => {
  const { pauseEnd, pulse, spec } = draft.state
  if (pauseEnd === null) return slots
  const calendar = draft.world.calendarOf(spec)
  const fellIn = (slot: Instant): boolean =>
    pulse === null ? isDueBy(pauseEnd, slot, spec.jitterMs, calendar) : slot <= pauseEnd
  const first = slots.findIndex((slot) => !fellIn(slot))
  const cut = first === -1 ? slots.length : first
  skip(draft, slots.slice(0, cut), 'paused')
  return slots.slice(cut)
}

const isFresh = ({ state, now, world }: Draft, slot: Instant): boolean =>
  now <= slot + world.calendarOf(state.spec).delayMs(slot) + state.spec.graceMs

const startSlot = (draft: Draft, slot: Instant): void => {
  if (runsLeft(draft.state) > 0) start(draft, planRun(draft, slot, 'slot', null))
}

/** Queues a run for each of the newest missed slots, oldest first; the current slot joins them at the end. */
const runAll = (draft: Draft, missed: readonly Instant[], fresh: readonly Instant[]): void => {
  const { max } = draft.state.spec.missed
  const first = Math.max(0, missed.length - max)
  skip(draft, missed.slice(0, first), 'max')
  const slots = [...missed.slice(first), ...fresh].slice(0, runsLeft(draft.state))
  enqueue(
    draft,
    slots.map((slot) => planRun(draft, slot, 'missed', null)),
  )
}

/** `missed` are within the window; `fresh` is the current slot, if there is one. */
const catchUp = (draft: Draft, missed: readonly Instant[], fresh: readonly Instant[]): void => {
  switch (draft.state.spec.missed.policy) {
    case 'run_once': {
      const slots = [...missed, ...fresh]
      skip(draft, slots.slice(0, -1), 'coalesced')
      for (const slot of slots.slice(-1)) startSlot(draft, slot)
      return
    }
    case 'skip':
      skip(draft, missed, 'policy')
      for (const slot of fresh) startSlot(draft, slot)
      return
    case 'run_all':
      if (missed.length > 0) return runAll(draft, missed, fresh)
      for (const slot of fresh) startSlot(draft, slot)
  }
}

const SKIPPED_AS = { run_once: 'coalesced', skip: 'policy', run_all: 'max' } as const

/** Too many slots for one decision: none of these is among the newest, so none of them gets a run of its own. */
const skipMany = (draft: Draft, missed: readonly Instant[]): void =>
  skip(draft, missed, SKIPPED_AS[draft.state.spec.missed.policy])

const settle = (draft: Draft, slots: readonly Instant[], more: boolean): void => {
  const { timing, adaptive, missed } = draft.state.spec
  const newest = slots.at(-1)
  if (newest === undefined) return
  // A single instant, or one interval of an adaptive schedule, has no successor that could cover it, so it runs however late.
  if (timing.kind === 'at' || adaptive !== null) return startSlot(draft, newest)
  const fresh = !more && isFresh(draft, newest) ? [newest] : []
  const late = slots.slice(0, slots.length - fresh.length)
  const horizon = draft.now - missed.windowMs
  const first = late.findIndex((slot) => slot >= horizon)
  const cut = first === -1 ? late.length : first
  skip(draft, late.slice(0, cut), 'window')
  if (more) skipMany(draft, late.slice(cut))
  else catchUp(draft, late.slice(cut), fresh)
}

/** Settles the slots that are due; returns whether there are more. */
const passSome = (draft: Draft, early: boolean): boolean => {
  if (runsLeft(draft.state) <= 0) return false
  const { slots, more } = dueSlots(draft.state, draft.now, draft.world.calendarOf, early)
  // The newest of these may be among the newest of all, which run_all runs: the next decision sees them again.
  const certain = more ? slots.slice(0, slots.length - draft.state.spec.missed.max) : slots
  settle(draft, afterPause(draft, certain), more)
  return more
}

export const passTime = (draft: Draft): void => {
  if (draft.state.paused === null) passSome(draft, false)
  release(draft)
}

const earlySlots = ({ state, now, world }: Draft): readonly Instant[] =>
  dueSlots(state, now, world.calendarOf, true).slots

/** Called before the expression changes: settles every nominal slot up to now under the expression in force. */
export const closeBooks = (draft: Draft): void => {
  if (draft.state.paused === null) {
    while (passSome(draft, true));
    return release(draft)
  }
  for (let slots = earlySlots(draft); slots.length > 0; slots = earlySlots(draft)) skip(draft, slots, 'paused')
}
