/** Which declared events are sent, and with which data. */
import { describe, expect, test } from 'vitest'
import type { Rule } from '#model/kernel/rule.ts'
import type { EmitSpec } from '#model/workflow/spec.ts'
import { chooseEmits, emitData } from './emits.ts'

const rule =
  (value: boolean | number | null): Rule =>
  () =>
    value === null ? { kind: 'error', detail: 'no such field' } : { kind: 'value', value }

const spec = (event: string, change: Partial<EmitSpec> = {}): EmitSpec => ({
  event,
  on: 'success',
  when: null,
  delayMs: null,
  data: null,
  fields: null,
  ...change,
})
const when = (value: boolean | number | null): Pick<EmitSpec, 'when'> => ({ when: { text: 'x', rule: rule(value) } })

const chosen = (
  specs: readonly EmitSpec[],
  ending: Parameters<typeof chooseEmits>[1]['ending'] = 'success',
  hasSent = false,
) => chooseEmits(specs, { ending, hasSent, roots: {} }).map(({ event }) => event)

describe('the choice', () => {
  test('[A6] emits-1: an event that the code sent replaces the declared events of a success, and of no other end', () => {
    const specs = [spec('a'), spec('b', { on: 'failure' })]
    expect(chosen(specs)).toEqual(['a'])
    expect(chosen(specs, 'success', true)).toEqual([])
    expect(chosen(specs, 'failure', true)).toEqual(['b'])
  })

  test('[A6] emits-2: each condition is evaluated by itself; several entries without a condition only permit events', () => {
    expect(chosen([spec('a', when(true)), spec('b', when(false)), spec('c')])).toEqual(['a', 'c'])
    expect(chosen([spec('a', when(true)), spec('b'), spec('c')])).toEqual(['a'])
  })

  test('[A6] an end sends its own entries and those for every end; a partial success counts as a success', () => {
    const specs = [spec('s'), spec('p', { on: 'partial', ...when(true) }), spec('t', { on: 'timeout', ...when(true) })]
    expect(chosen(specs)).toEqual(['s'])
    expect(chosen(specs, 'partial')).toEqual(['s', 'p'])
    expect(chosen(specs, 'timeout')).toEqual(['t'])
    expect(chosen([spec('x', { on: 'always' })], 'cancelled')).toEqual(['x'])
  })

  test('[A6] a condition that fails, or does not give true or false, is an error', () => {
    expect(() => chosen([spec('a', when(null))])).toThrow('EXPR_FAILED')
    expect(() => chosen([spec('a', when(7))])).toThrow('EXPR_FAILED')
  })
})

test('[A6] the data of an event is its template, else the declared members, else the whole output', () => {
  const roots = { output: { a: 1, x: 2 }, payload: { a: 9, b: 3 } }
  expect(emitData(spec('e', { data: () => ({ own: true }) }), roots)).toEqual({ own: true })
  expect(emitData(spec('e', { fields: ['a', 'b', 'c'] }), roots)).toEqual({ a: 1, b: 3 })
  expect(emitData(spec('e'), roots)).toEqual({ a: 1, x: 2 })
  expect(emitData(spec('e'), { output: 'text' })).toEqual({ output: 'text' })
})
