/** Formatted amounts. */
import { expect, test } from 'vitest'
import { dollars, tokens } from './figures.ts'

test.each([
  [null, 'unknown'],
  [0, '$0.00'],
  [0.00042, '$0.00042'],
  [12.345, '$12.35'],
  [1234.5, '$1,234.50'],
])('%s dollars are written as %s', (amount, text) => expect(dollars(amount)).toBe(text))

test('counts have their thousands apart', () => expect(tokens(1234567)).toBe('1,234,567'))
