/** Decisions and folds, on the smallest possible machine. */
import { expect, test } from 'vitest'
import { facts, fold, type Machine, refuse } from './machine.ts'

const sum: Machine<number, { readonly add: number }, number> = {
  initial: 1,
  decide: (_, { add }) => (add < 0 ? refuse('INPUT_INVALID', 'a sum only grows') : facts(add)),
  evolve: (state, fact) => state + fact,
}

test('a decision is facts or a refusal', () => {
  expect(sum.decide(1, { add: 2 })).toStrictEqual({ kind: 'facts', facts: [2] })
  expect(sum.decide(1, { add: -1 })).toStrictEqual({
    kind: 'refused',
    code: 'INPUT_INVALID',
    detail: 'a sum only grows',
  })
  expect(facts()).toStrictEqual({ kind: 'facts', facts: [] })
})

test('fold begins at the given state, or at the initial one', () => {
  expect(fold(sum, [])).toBe(1)
  expect(fold(sum, [2, 3])).toBe(6)
  expect(fold(sum, new Set([2, 3]), 10)).toBe(15)
})
