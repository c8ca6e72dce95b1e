/** Which SQLite driver is chosen on which version of Node. */
import { expect, test } from 'vitest'
import { hasGoodBuiltIn, isAtLeast } from './driver.ts'

test.each([
  ['3.51.3', true],
  ['3.51.10', true],
  ['3.53.0', true],
  ['4.0.0', true],
  ['3.51.2', false],
  ['3.9.9', false],
])('SQLite %s is new enough: %s', (version, isEnough) => {
  expect(isAtLeast(version, '3.51.3')).toBe(isEnough)
})

test.each([
  [{ node: '24.11.0', sqlite: '3.51.3' }, true],
  [{ node: '24.0.0', sqlite: '3.50.4' }, false],
  [{ node: '22.20.0', sqlite: '3.51.3' }, false],
  [{ node: '20.20.2' }, false],
])('the SQLite inside Node is used only from Node 24 on, and only if it is new enough: %o', (versions, isGood) => {
  expect(hasGoodBuiltIn(versions)).toBe(isGood)
})
