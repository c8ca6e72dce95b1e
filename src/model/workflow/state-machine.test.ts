/** The states of an entity, and the moves between them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EntityMachine } from './spec.ts'
import { judgeMove, judgeStart, stateOf } from './state-machine.ts'

const machine: EntityMachine = {
  entity: 'order',
  initial: 'new',
  states: new Map([
    ['new', { to: ['paid'], terminal: false }],
    ['paid', { to: ['sent', 'new'], terminal: false }],
    ['sent', { to: ['new'], terminal: true }],
  ]),
  enforce: 'strict',
}

test('state-machine-1: an entity that was never moved is in its initial state', () => {
  expect(stateOf(machine, null)).toBe('new')
  expect(stateOf(machine, { state: 'paid', run: 'run_1' })).toBe('paid')
})

test('work begins in the states that are declared for it, or in any state', () => {
  expect(judgeStart(machine, 'new', [])).toBeNull()
  expect(judgeStart(machine, 'new', ['paid', 'new'])).toBeNull()
  expect(judgeStart(machine, 'new', ['paid', 'sent'])).toBe('order is new, expected paid or sent')
})

test.each([
  ['new', 'paid', null],
  ['new', 'same', null],
  ['new', 'new', null],
  ['new', 'sent', 'order cannot go from new to sent; allowed: paid'],
  ['paid', 'lost', 'order has no state lost'],
  ['sent', 'new', 'order is sent, which is a final state'],
  ['gone', 'new', 'order is gone, which is not a state of its machine'],
])('state-machine-2: a move from %s to %s is judged with: %s', (from, to, problem) => {
  expect(judgeMove(machine, from, to)).toBe(problem)
})

test('state-machine-2: valid moves never lead out of the known states or out of a terminal one', () => {
  const states = [...machine.states.keys()]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...states, 'lost'), { maxLength: 20 }), (intents) => {
      let state = machine.initial
      for (const to of intents) {
        if (judgeMove(machine, state, to) !== null) continue
        if (machine.states.get(state)?.terminal === true) expect(to).toBe(state)
        state = to
      }
      expect(states).toContain(state)
    }),
  )
})
