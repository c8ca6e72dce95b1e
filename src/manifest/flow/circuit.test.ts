/** Circuit breakers as authors write them. */
import { expect, test } from 'vitest'
import type { CircuitSource } from '#model/worker/source.ts'
import { defineCircuit } from './circuit.ts'

test('[I7] the defaults of a breaker', () => {
  expect(defineCircuit('functions.pay', 'pay', {})).toEqual({
    key: 'pay',
    keyRule: null,
    policy: { window: 20, minCalls: 10, failureRate: 0.5, openForMs: 30_000, maxOpenForMs: 600_000 },
    codes: null,
    whenOpen: 'wait',
  })
  expect(defineCircuit('functions.pay', 'pay', undefined)).toBeNull()
})

test('[I7] a key may be an expression; an invalid one is refused with its place', () => {
  const circuit = defineCircuit('functions.pay', 'pay', { key: { expr: 'payload.bank' } })
  expect(circuit?.keyRule?.({ event: null, payload: { bank: 'north' } })).toEqual({ kind: 'value', value: 'north' })
  expect(() => defineCircuit('f', 'f', { key: { expr: 'payload.' } })).toThrow('f.circuit.key')
})

test.each<[string, CircuitSource]>([
  ['key', { key: '' }],
  ['window', { window: 0 }],
  ['minCalls', { window: 5, minCalls: 6 }],
  ['failureRate', { failureRate: 0 }],
  ['whenOpen', { whenOpen: 'hope' as never }],
  ['openFor', { openFor: 0 }],
])('a bad %s is refused with its place', (name, source) => {
  expect(() => defineCircuit('f', 'f', source)).toThrow(`MANIFEST_INVALID: f.circuit.${name}`)
})
