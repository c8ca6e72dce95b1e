/**
 * Compiling any expression ends with a rule or with a refusal that has a place, and evaluating a rule ends with an answer.
 *
 * Runs as many cases as a test run has time for; the stage `fuzz` of `npm run test:chaos` runs the full number.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compiled, EXPRESSIONS, ends } from '#test/support/manifest/any-expressions.ts'
import { compileRule } from './rules.ts'

const CASES = 20_000

const allEnd = (texts: fc.Arbitrary<string>, numRuns: number): void => fc.assert(fc.property(texts, ends), { numRuns })

describe('an expression', () => {
  test.each([
    ['[1, 2]', { kind: 'value', value: [1, 2] }],
    ['9'.repeat(400), { kind: 'error', detail: 'gives Infinity, which is not a JSON number' }],
    ['1e308 * 10.0', { kind: 'error', detail: 'gives Infinity, which is not a JSON number' }],
  ])('%s gives a JSON value or an error', (text, answer) => expect(compileRule(text)({})).toEqual(answer))

  test.each(['b"z"', '1u'])('%s is refused, because JSON has no such value', (text) =>
    expect(compiled(text)).toBeNull(),
  )

  test('of random tokens ends with a rule or a refusal', () => allEnd(EXPRESSIONS.words, CASES))
  test('that is valid ends with an answer', () => allEnd(EXPRESSIONS.sensible, CASES / 4))
  test('of random text ends', () => allEnd(EXPRESSIONS.text, CASES / 4))
})
