/**
 * The states of an entity and the moves between them: what may begin in which state, and where it may go.
 *
 * Owns the judgement. Pure; where the state is kept, and whether a finding stops anything, is the caller's.
 *
 * state-machine-1  An entity that nobody has moved is in its initial state.
 * state-machine-2  A move is good if the machine lists it; staying is no move; a terminal state is left by none.
 */
import type { EntityMachine } from './spec.ts'

/** Told of every move. */
export const STATE_MOVED = 'trihand.state.moved'

/** The word for "as it was". */
export const SAME = 'same'

/** Where the states of an entity are kept, a document for each. */
export const stateTable = ({ entity }: EntityMachine): string => `state:${entity}`

/** Where an entity is, who brought it there, and how many moves that took. */
export interface KeptState {
  readonly state: string
  readonly run: string
  /** Absent in what was written before moves were counted. */
  readonly version?: number
}

export const stateOf = (machine: EntityMachine, kept: KeptState | null): string => kept?.state ?? machine.initial

/** Why work may not begin in this state; null: it may. */
export const judgeStart = (machine: EntityMachine, state: string, from: readonly string[]): string | null =>
  from.length === 0 || from.includes(state) ? null : `${machine.entity} is ${state}, expected ${from.join(' or ')}`

/** Why this move is none of the machine's; null: it is good. */
export const judgeMove = (machine: EntityMachine, state: string, to: string): string | null => {
  if (to === SAME || to === state) return null
  const { entity, states } = machine
  const target = states.get(to)
  if (target === undefined) return `${entity} has no state ${to}`
  const here = states.get(state)
  if (here === undefined) return `${entity} is ${state}, which is no state of its machine`
  if (here.terminal) return `${entity} is ${state}, and that is final`
  return here.to.includes(to)
    ? null
    : `${entity} goes from ${state} to ${here.to.join(', ') || 'nowhere'}, not to ${to}`
}
