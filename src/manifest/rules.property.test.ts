/**
 * Whatever an expression is, compiling it ends with a rule or a refusal that has a place, and a rule ends with an answer.
 *
 * `FUZZ_CASES=1000000` runs the full number; without it as many as a test run has time for.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TrihandError } from '../model/errors.ts'
import { toJson } from '../model/json.ts'
import type { Rule } from '../model/rule.ts'
import { compileRule } from './rules.ts'
import { celText } from './yaml/expression.ts'

const CASES = Number(process.env['FUZZ_CASES'] ?? 20_000)

// biome-ignore format: a list of words
const WORDS = [
  'payload', 'payload.n', 'payload.text', 'payload.list', 'event', 'run', 'trigger.data', 'nobody', 'true', 'false', 'null', '1', '0',
  '2.5', '1e308', '9223372036854775808', '1u', '"x"', "'y'", '"', 'b"z"', 'r"\\d"', '==', '!=', '<', '<=', '>', '>=', '&&', '||', '!', '-',
  '+', '*', '/', '%', '?', ':', '(', ')', '[', ']', '{', '}', ',', '.', 'in', 'has(', 'size(', 'string(', 'int(', 'double(', 'matches(',
  '.contains(', '.startsWith(', '.endsWith(', '.size()', '.map(x,', '.all(x,', 'and', 'or', 'not', 'duration("1s")', 'timestamp("x")',
  'type(', 'dyn(', '__proto__', 'constructor', '.toString', '\n', '\u0000', '\u{1f600}', '//', '1 / 0', 'payload.n % 3',
]

const VALUES = {
  payload: { n: 7, text: 'hello', list: [1, 2, 'x', null], deep: { a: { b: 1 } }, none: null },
  event: { type: 'a.b', data: {} },
  trigger: { data: {} },
  run: { id: 'run_1' },
}

const compiled = (text: string): Rule | null => {
  try {
    return compileRule(text)
  } catch (error) {
    if (!(error instanceof TrihandError)) throw error
    expect(error.code).toBe('EXPR_REJECTED')
    expect(error.place?.column).toBeGreaterThanOrEqual(1)
    return null
  }
}

const ends = (text: string): void => {
  const rule = compiled(celText(text))
  if (rule === null) return
  const answer = rule(VALUES)
  if (answer.kind === 'value') expect(() => toJson(answer.value)).not.toThrow()
  else expect(typeof answer.detail).toBe('string')
}

const tokens = fc.array(fc.constantFrom(...WORDS), { maxLength: 14 }).map((all) => all.join(' '))
const grown = fc.tuple(fc.constantFrom(...WORDS), fc.nat(300)).map(([word, times]) => word.repeat(times))

/** Expressions that mean something, so that rules are asked and not only refused. */
const { whole: sensible } = fc.letrec<{ readonly whole: string; readonly term: string }>((tie) => ({
  term: fc.constantFrom(
    'payload.n',
    'payload.text',
    'payload.list',
    'payload.none',
    '3',
    '2.5',
    '"hello"',
    'payload.missing',
    '[1, 2]',
  ),
  whole: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('term'),
    fc
      .tuple(tie('whole'), fc.constantFrom('==', '!=', '<', '>', '&&', '||', '+', '-', '*', 'in'), tie('whole'))
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('whole'), tie('whole'), tie('whole')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    tie('whole').map((one) => `!(${one})`),
    fc.tuple(fc.constantFrom('size', 'string', 'int', 'double'), tie('term')).map(([call, one]) => `${call}(${one})`),
  ),
}))

describe('an expression', () => {
  test.each([
    ['[1, 2]', { kind: 'value', value: [1, 2] }],
    ['9'.repeat(400), { kind: 'error', detail: 'gives Infinity, which is no number of JSON' }],
    ['1e308 * 10.0', { kind: 'error', detail: 'gives Infinity, which is no number of JSON' }],
  ])('%s gives what JSON can hold, or an error', (text, answer) => expect(compileRule(text)({})).toEqual(answer))

  test.each(['b"z"', '1u'])('%s is refused: JSON has no such value', (text) => expect(compiled(text)).toBeNull())

  test(`of any words ends with a rule or a refusal, ${CASES} times`, () =>
    fc.assert(fc.property(fc.oneof({ weight: 6, arbitrary: tokens }, { weight: 1, arbitrary: grown }), ends), {
      numRuns: CASES,
    }))

  test('that means something ends with an answer', () =>
    fc.assert(fc.property(sensible, ends), { numRuns: Math.ceil(CASES / 4) }))

  test('of any text ends', () =>
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), ends), { numRuns: Math.ceil(CASES / 4) }))
})
