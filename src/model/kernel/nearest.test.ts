/** The suggestion for a misspelled name. */
import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

test.each([
  ['triger', ['trigger', 'emits'], 'trigger'],
  ['emit', ['emits', 'limits'], 'emits'],
  ['order.pad', ['order.placed', 'order.paid'], 'order.paid'],
  ['zebra', ['trigger', 'emits'], null],
  ['x'.repeat(1_000), ['x'.repeat(999)], null],
  ['anything', [], null],
])('the name nearest to "%s" among %j is %s', (written, known, meant) => expect(nearest(written, known)).toBe(meant))
