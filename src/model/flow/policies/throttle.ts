/**
 * Starts spread over time: nothing is lost, every run gets its turn in the order of arrival (GCRA with a burst and a cost).
 *
 * Owns the arithmetic of turns, exact in whole numbers: an instant and a remainder in parts of a millisecond. A turn is taken when a run is
 * created, and says from when on the run may be claimed; whether the run then begins is decided at that instant (starts.ts).
 *
 * throttle-1  In any period at most limit + burst - 1 turns fall, counted by cost.
 */
import { type DueMap, dropDue, put, valueAt } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'

export interface ThrottlePolicy {
  readonly limit: number
  readonly periodMs: number
  readonly burst: number
  /** The name of a budget that other handlers share; absent: the handler's own. */
  readonly shared?: string
}

/** When the key would be idle: `at` milliseconds and `part` / limit of another. */
export interface Idle {
  readonly at: Instant
  readonly part: number
}

export type ThrottleState = DueMap<Idle>

export interface Turn {
  readonly key: string
  readonly idle: Idle
  /** From this instant on the key is as good as new. */
  readonly forgetAt: Instant
}

/** A unit of cost takes period / limit milliseconds: in parts of 1 / limit millisecond, that is the period itself. */
export const later = (from: Idle, units: number, { limit, periodMs }: ThrottlePolicy): Idle => {
  const parts = from.part + units * periodMs
  const whole = Math.floor(parts / limit)
  return { at: from.at + whole, part: parts - whole * limit }
}

export const roundUp = ({ at, part }: Idle): Instant => (part > 0 ? at + 1 : at)

export const latest = (a: Idle, b: Idle): Idle => (a.at > b.at || (a.at === b.at && a.part > b.part) ? a : b)

export const takeTurn = (
  state: ThrottleState,
  policy: ThrottlePolicy,
  { key, cost, now }: { readonly key: string; readonly cost: number; readonly now: Instant },
): { readonly notBefore: Instant; readonly turn: Turn } => {
  const idle = valueAt(state, key)
  const arrived = { at: now, part: 0 }
  // throttle-1: the whole cost must fit, so that the last one of a period does not go over.
  const start = idle === undefined ? arrived : latest(arrived, later(idle, cost - policy.burst, policy))
  // Computed from the exact instant, not from the rounded one: otherwise each turn would be late by a part of a millisecond.
  const next = later(idle === undefined ? start : latest(start, idle), cost, policy)
  return { notBefore: roundUp(start), turn: { key, idle: next, forgetAt: roundUp(next) + policy.periodMs } }
}

export const recordTurn = (state: ThrottleState, turn: Turn, at: Instant): ThrottleState =>
  put(dropDue(state, at), turn.key, turn.idle, turn.forgetAt)
