/** The literal finder misses no literal, and skips texts that hold none. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { literalFinder } from './literal-finder.ts'

describe('a finder of literals', () => {
  const literal = fc.string({ minLength: 3, maxLength: 12, unit: fc.constantFrom('a', 'b', 'c', '1', '€') })
  const around = fc.string({ maxLength: 40, unit: fc.constantFrom('a', 'b', 'c', '1', '€') })

  test('literal-finder-1: a literal is found in any surrounding text', () => {
    fc.assert(
      fc.property(fc.array(literal, { minLength: 1, maxLength: 8 }), around, around, fc.nat(), (literals, a, b, n) => {
        const one = literals[n % literals.length] as string
        expect(literalFinder(literals)(a + one + b)).toBe(true)
      }),
    )
  })

  test('a text that shares no three characters with any literal holds none', () => {
    const mayHold = literalFinder(['a-long-secret-value', 'another/secret+value'])
    expect(['', 'ab', 'a plain sentence of words', 'x'.repeat(10_000)].map(mayHold)).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect(literalFinder([])('anything')).toBe(false)
  })

  test('a literal that is too short to be found is refused', () => {
    expect(() => literalFinder(['ab'])).toThrow('fewer than 3')
  })
})
