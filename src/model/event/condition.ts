/**
 * A condition that is sampled again and again, and the moments at which it counts as met.
 *
 * Owns edges, the time for which it must hold, and hysteresis. The current value arrives in the sample; a caller that could not take a sample
 * sends none, and nothing changes. The state is plain JSON, because it is stored between processes.
 *
 * condition-1  It is met only after it has held, in every sample, for `forMs`.
 * condition-2  `rising` and `falling` are met once, and not again before the condition has turned round (and its rearm rule holds).
 * condition-3  `change` is met when the value differs from the last one that counted; the first value is only stored for comparison.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'

export const CONDITION_EDGES = ['rising', 'falling', 'level', 'change'] as const
export type ConditionEdge = (typeof CONDITION_EDGES)[number]

export interface ConditionPolicy {
  readonly edge: ConditionEdge
  readonly forMs: number
  /** It is not met again within this time, however often it turns. */
  readonly pauseMs: number
  /** The `rearm` of a sample must also be true before it may be met again. */
  readonly hasRearmRule: boolean
}

export interface ConditionState {
  readonly isArmed: boolean
  /** Since when the condition holds; for `change`, since when the candidate is the value. */
  readonly since: Instant | null
  readonly metAt: Instant | null
  /** How often it was met; names the next event. */
  readonly times: number
  /** For `change`: the value that counted last, and the one that may count next, as canonical text. */
  readonly last: string | null
  readonly candidate: string | null
}

export interface ConditionSample {
  readonly now: Instant
  readonly value: Json
  readonly rearm: boolean
}

export interface ConditionVerdict {
  readonly state: ConditionState
  readonly isMet: boolean
}

export const newCondition = ({ edge }: ConditionPolicy): ConditionState => ({
  // `falling` needs a sample that is true before it can fall.
  isArmed: edge !== 'falling',
  since: null,
  metAt: null,
  times: 0,
  last: null,
  candidate: null,
})

/** If the clock is set back, the condition must not seem to hold since a future instant. */
const heldSince = (state: ConditionState, now: Instant): Instant => Math.min(state.since ?? now, now)

const isRested = ({ metAt }: ConditionState, { pauseMs }: ConditionPolicy, now: Instant): boolean =>
  metAt === null || now - metAt >= pauseMs || now < metAt

const met = (state: ConditionState, now: Instant): ConditionVerdict => ({
  isMet: true,
  state: { ...state, metAt: now, times: state.times + 1 },
})

const sampleChange = (policy: ConditionPolicy, state: ConditionState, sample: ConditionSample): ConditionVerdict => {
  const { now } = sample
  const value = canonical(sample.value)
  if (state.last === null) return { isMet: false, state: { ...state, last: value } }
  if (value === state.last) return { isMet: false, state: { ...state, since: null, candidate: null } }
  const since = value === state.candidate ? heldSince(state, now) : now
  const next = { ...state, since, candidate: value }
  if (now - since < policy.forMs || !isRested(state, policy, now)) return { isMet: false, state: next }
  return met({ ...next, last: value, since: null, candidate: null }, now)
}

const sampleEdge = (policy: ConditionPolicy, state: ConditionState, sample: ConditionSample): ConditionVerdict => {
  const { now, value, rearm } = sample
  if (value !== (policy.edge !== 'falling')) {
    const isArmed = state.isArmed || !policy.hasRearmRule || rearm
    return { isMet: false, state: { ...state, isArmed, since: null } }
  }
  const since = heldSince(state, now)
  const isDue = state.isArmed && now - since >= policy.forMs && isRested(state, policy, now)
  const next = { ...state, since }
  return isDue ? met({ ...next, isArmed: policy.edge === 'level' }, now) : { isMet: false, state: next }
}

export const sampleCondition = (
  policy: ConditionPolicy,
  state: ConditionState,
  sample: ConditionSample,
): ConditionVerdict =>
  policy.edge === 'change' ? sampleChange(policy, state, sample) : sampleEdge(policy, state, sample)
