/** Which paths a glob matches, and which folder a watcher must look at. */
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
])('glob %s on path %s matches: %s', (glob, path, isMeant) => {
  expect(globMatcher([glob])(path)).toBe(isMeant)
})

test.each([
  ['in/**/*.csv', 'in'],
  ['*.csv', '.'],
  ['config.yaml', 'config.yaml'],
  ['/*.csv', '/'],
])('glob %s is watched at %s', (glob, base) => {
  expect(baseOf(glob)).toBe(base)
})
