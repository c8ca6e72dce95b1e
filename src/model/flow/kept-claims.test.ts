/** Which claims leave the state of a gate, and how they come back. */
import { expect, test } from 'vitest'
import type { Claim } from '#model/flow/policies/idempotency.ts'
import { entriesOf } from '#model/kernel/due-map.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { gate } from './gate.ts'
import type { GateFact, OpenGate } from './gate-fact.ts'
import { resumeGateFrom } from './gate-read.ts'
import { claimsToKeep, keptValue, missingKeys, readKept, withRecalled } from './kept-claims.ts'

const claim = (key: string, sequence: number, expiresAt: number | null): Claim => ({
  key,
  sequence,
  run: `run_${sequence}` as RunId,
  claimedAt: 0,
  expiresAt,
})

const started = (one: Claim): GateFact => ({
  type: 'gate.started',
  at: 1,
  run: one.run,
  events: [one.sequence],
  how: 'event',
  notBefore: null,
  priority: 0,
  tracked: false,
  line: null,
  turn: null,
  keys: [one.key],
  claim: one,
})

const folded = (facts: readonly GateFact[]): OpenGate =>
  facts.reduce(gate.evolve, gate.evolve({ kind: 'none' }, { type: 'gate.opened', at: 0, cursor: 0 })) as OpenGate

const arrival = (sequence: number) => ({
  sequence,
  time: 1,
  bytes: 1,
  idempotencyKey: 'held',
  rateKey: '',
  windowKey: '',
  overlapKey: '',
  throttleKey: '',
  cost: 1,
  priority: 0,
  alone: false,
})

const keysOf = (state: OpenGate): readonly string[] => entriesOf(state.claims).map(([key]) => key)

test('kept-claims-2: only a claim with a known end leaves the state, and only when its event no longer waits (14.4.4)', () => {
  const held: GateFact = { type: 'gate.held', at: 1, arrival: arrival(3), claim: claim('held', 3, 100) }
  const state = folded([started(claim('alive', 1, null)), started(claim('kept', 2, 100)), held])
  expect(claimsToKeep(state, 10).map(({ key }) => key)).toEqual(['kept'])
  expect(claimsToKeep(state, 100)).toEqual([])
})

test('kept-claims-1: a claim that left the state is found by its key, until it expires (14.4.4)', () => {
  const kept = claim('kept', 2, 100)
  const before = folded([started(claim('alive', 1, null)), started(kept)])
  const after = gate.evolve(before, { type: 'gate.keys_kept', at: 10, keys: ['kept'] }) as OpenGate
  expect(keysOf(after)).toEqual(['alive'])
  expect(after.sweep).toEqual({ since: 1, after: '' })
  expect(missingKeys(after, ['alive', 'kept', 'kept', 'new'])).toEqual(['kept', 'new'])
  const found = readKept('kept', keptValue(kept), 99)
  expect(found).toEqual(kept)
  expect(readKept('kept', keptValue(kept), 100)).toBeNull()
  expect(readKept('kept', null, 1)).toBeNull()
  expect(keysOf(withRecalled(after, [kept]) as OpenGate).toSorted()).toEqual(['alive', 'kept'])
})

test('kept-claims-1: a reader restores the state after a checkpoint without the claims that left with it (14.4.4)', () => {
  const state = folded([started(claim('kept', 2, 100))])
  const tail: readonly GateFact[] = [
    { type: 'gate.checkpointed', at: 10, state },
    { type: 'gate.keys_kept', at: 10, keys: ['kept'], swept: 'x' },
  ]
  const restored = resumeGateFrom(tail) as OpenGate
  expect(keysOf(restored)).toEqual([])
  expect(restored.sweep).toEqual({ since: 0, after: 'x' })
})

test('kept-claims-1: claims of an old gate leave in portions, and those that have documents leave in any case (14.4.4)', () => {
  const state = folded(Array.from({ length: 2_500 }, (_, i) => started(claim(`k${i}`, i, 100))))
  const last = (one: Claim): boolean => one.sequence >= 2_400
  const leaving = claimsToKeep(state, 10, last)
  expect(leaving.filter(last)).toHaveLength(100)
  expect(leaving).toHaveLength(1_100)
})
