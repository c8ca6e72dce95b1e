/**
 * Given, when, then: tests of a machine's rules, written as a story.
 *
 * Owns how a decision is compared with what a test expects. Never has a method named `then`: `await` and the runner would
 * take the object for a promise.
 */
import { expect } from 'vitest'
import type { ErrorCode } from '#model/kernel/errors.ts'
import { type Decision, fold, type Machine } from '#model/kernel/machine.ts'

export interface Expectation<Fact> {
  thenFacts(first: Fact, ...rest: readonly Fact[]): void
  thenRefused(code: ErrorCode): void
  /** The command was accepted and changed nothing: a repeat, an early deadline. */
  thenNothing(): void
}

export interface Story<Command, Fact> {
  given(...history: readonly Fact[]): { when(command: Command): Expectation<Fact> }
}

/** Stories of a machine: `specify(run).given(started).when(cancel).thenFacts(cancelled)`. */
export const specify = <State, Command, Fact>(machine: Machine<State, Command, Fact>): Story<Command, Fact> => ({
  given: (...history) => ({
    when: (command) => expectationOf(machine.decide(fold(machine, history), command)),
  }),
})

const expectationOf = <Fact>(decision: Decision<Fact>): Expectation<Fact> => ({
  // Strict, because a stored fact drops keys that are undefined: two facts that differ there must count as different.
  thenFacts: (...expected) => expect(decision).toStrictEqual({ kind: 'facts', facts: expected }),
  thenRefused: (code) => expect(decision).toMatchObject({ kind: 'refused', code }),
  thenNothing: () => expect(decision).toStrictEqual({ kind: 'facts', facts: [] }),
})
