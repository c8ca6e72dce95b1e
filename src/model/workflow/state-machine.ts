/**
 * The states of an entity and the moves between them: in which states work may begin, and which moves are valid.
 *
 * Owns the judgement. Pure: the caller stores the state, and decides whether a finding stops anything.
 *
 * state-machine-1  An entity that was never moved is in its initial state.
 * state-machine-2  A move is valid if the machine lists it; staying in a state is not a move; no move leaves a terminal state.
 */
import type { EntityMachine } from './spec.ts'

/** The event that reports every move. */
export const STATE_MOVED = 'trihand.state.moved'

/** The target state that means: unchanged. */
export const SAME = 'same'

/** The table that stores the states of an entity, a document for each. */
export const stateTable = ({ entity }: EntityMachine): string => `state:${entity}`

/** The stored state of an entity, the run that set it, and how many moves there have been. */
export interface KeptState {
  readonly state: string
  readonly run: string
  /** Absent in documents that were written before moves were counted. */
  readonly version?: number
}

export const stateOf = (machine: EntityMachine, kept: KeptState | null): string => kept?.state ?? machine.initial

/** The reason why work may not begin in this state; null: it may. */
export const judgeStart = (machine: EntityMachine, state: string, from: readonly string[]): string | null =>
  from.length === 0 || from.includes(state) ? null : `${machine.entity} is ${state}, expected ${from.join(' or ')}`

/** The reason why the move is not valid; null: it is. */
export const judgeMove = (machine: EntityMachine, state: string, to: string): string | null => {
  if (to === SAME || to === state) return null
  const { entity, states } = machine
  const target = states.get(to)
  if (target === undefined) return `${entity} has no state ${to}`
  const here = states.get(state)
  if (here === undefined) return `${entity} is ${state}, which is not a state of its machine`
  if (here.terminal) return `${entity} is ${state}, which is a final state`
  return here.to.includes(to)
    ? null
    : `${entity} cannot go from ${state} to ${to}; allowed: ${here.to.join(', ') || 'none'}`
}
