/** Hostile code of an isolated module on the Node.js that runs here; `npm run test:chaos -- --only escapes` tests the other versions. */
import { expect, test } from 'vitest'
import { tryEscapes } from '#test/support/agents/escape-place.ts'
import { ESCAPES } from '#test/support/agents/escapes.ts'

test('isolation-1: [N9] each of more than 200 ways out of a process for isolated code is closed (15.2)', async () => {
  expect(ESCAPES.length).toBeGreaterThanOrEqual(200)
  const { tried, seen } = await tryEscapes(process.execPath)
  expect(tried.filter(({ isOpen }) => isOpen).map(({ name, by }) => `${name}: ${by}`)).toEqual([])
  expect(seen).toEqual([])
})
