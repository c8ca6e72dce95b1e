/** Which paths a glob means, and where a watcher must look. */
import { expect, test } from 'vitest'
import { baseOf, globMatcher } from './glob.ts'

test.each([
  ['in/*.csv', 'in/a.csv', true],
  ['in/*.csv', 'in/b/a.csv', false],
  ['in/*.csv', 'in/a.csvx', false],
  ['in/**/*.csv', 'in/a.csv', true],
  ['in/**/*.csv', 'in/b/c/a.csv', true],
  ['in/**', 'in/b/c/a.csv', true],
  ['in/**', 'inn/a.csv', false],
  ['./in/a?.csv', 'in/a1.csv', true],
  ['a+b(1).txt', 'a+b(1).txt', true],
  ['a+b(1).txt', 'aab1.txt', false],
  ['/abs/*', '/abs/x', true],
])('%s and %s: %s', (glob, path, isMeant) => {
  expect(globMatcher([glob])(path)).toBe(isMeant)
})

test.each([
  ['in/**/*.csv', 'in'],
  ['*.csv', '.'],
  ['config.yaml', 'config.yaml'],
  ['/*.csv', '/'],
])('%s is watched at %s', (glob, base) => {
  expect(baseOf(glob)).toBe(base)
})
