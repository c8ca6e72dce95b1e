/** Names are counted in a list or in a map, with the same result. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Rounds } from './rounds.ts'

const counted = (names: readonly string[]): readonly number[] => {
  const counts = new Map<string, number>()
  return names.map((name) => {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  })
}

test('next returns how often a name was used before, for any number of names', () => {
  const name = fc.integer({ min: 0, max: 30 }).map((n) => `step-${n}`)
  fc.assert(
    fc.property(fc.array(name, { maxLength: 60 }), (names) => {
      const rounds = new Rounds()
      expect(names.map((one) => rounds.next(one))).toEqual(counted(names))
    }),
  )
})

test('more names than the list takes are still counted', () => {
  const names = Array.from({ length: 40 }, (_, i) => `step-${i}`)
  const rounds = new Rounds()
  expect([...names, ...names].map((one) => rounds.next(one))).toEqual([...names.map(() => 0), ...names.map(() => 1)])
})
