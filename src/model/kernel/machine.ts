/**
 * The shape of every rule with a history: decide turns a command into facts, evolve turns a fact into the next state.
 *
 * Owns the vocabulary of decisions. Does not depend on a concrete machine, a clock or a store.
 */
import type { ErrorCode } from './errors.ts'

export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly detail: string
}

export type Decision<Fact> = { readonly kind: 'facts'; readonly facts: readonly Fact[] } | Refusal

/** Both functions are pure and total: no clock, no randomness, no IO. decide never throws; evolve accepts every fact in every state. */
export interface Machine<State, Command, Fact> {
  readonly initial: State
  decide(state: State, command: Command): Decision<Fact>
  evolve(state: State, fact: Fact): State
}

export const facts = <Fact>(...list: readonly Fact[]): Decision<Fact> => ({ kind: 'facts', facts: list })

export const refuse = (code: ErrorCode, detail: string): Refusal => ({ kind: 'refused', code, detail })

export const fold = <State, Command, Fact>(
  machine: Machine<State, Command, Fact>,
  history: Iterable<Fact>,
  from: State = machine.initial,
): State => {
  let state = from
  for (const fact of history) state = machine.evolve(state, fact)
  return state
}
