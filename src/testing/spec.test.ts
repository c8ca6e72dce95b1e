/** The functions of a story must be able to fail: each is tried on a decision that fits and on others that do not. */
import { describe, expect, test } from 'vitest'
import { facts, type Machine, refuse } from '#model/kernel/machine.ts'
import { specify } from './spec.ts'

type Door = { readonly kind: 'open' | 'shut' }
type Turn = { readonly type: 'shut'; readonly by: string }
type Shut = { readonly type: 'door.shut'; readonly by: string; readonly note?: string | undefined }

const door: Machine<Door, Turn, Shut> = {
  initial: { kind: 'open' },
  decide(state, command) {
    if (command.by === '') return refuse('INPUT_INVALID', 'nobody shuts the door')
    return state.kind === 'shut' ? facts() : facts({ type: 'door.shut', by: command.by })
  },
  evolve: () => ({ kind: 'shut' }),
}

const shut: Shut = { type: 'door.shut', by: 'ana' }
const { given } = specify(door)
const decided = given().when({ type: 'shut', by: 'ana' })
const refused = given().when({ type: 'shut', by: '' })
const nothing = given(shut).when({ type: 'shut', by: 'ben' })

describe('a story', () => {
  test('passes when the decision is the expected one', () => {
    decided.thenFacts(shut)
    refused.thenRefused('INPUT_INVALID')
    nothing.thenNothing()
  })

  test('folds the given facts before it decides', () => {
    expect(() => given().when({ type: 'shut', by: 'ben' }).thenNothing()).toThrow()
  })

  test('fails when other facts were decided', () => {
    expect(() => decided.thenFacts({ type: 'door.shut', by: 'ben' })).toThrow()
    expect(() => decided.thenFacts(shut, shut)).toThrow()
    expect(() => nothing.thenFacts(shut)).toThrow()
    expect(() => refused.thenFacts(shut)).toThrow()
  })

  test('fails when a fact differs only by a key that is undefined', () => {
    expect(() => decided.thenFacts({ ...shut, note: undefined })).toThrow()
  })

  test('fails when the refusal has another code, or when nothing was refused', () => {
    expect(() => refused.thenRefused('RUN_ENDED')).toThrow()
    expect(() => decided.thenRefused('INPUT_INVALID')).toThrow()
  })

  test('fails when something was decided and nothing was expected', () => {
    expect(() => decided.thenNothing()).toThrow()
    expect(() => refused.thenNothing()).toThrow()
  })

  test('is not a thenable that await would take for a promise', () => {
    expect(decided).not.toHaveProperty('then')
  })
})
