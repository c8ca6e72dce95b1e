/** Outlines of bars: each executor has its own shape, and narrow bars keep inside their box. */
import { expect, test } from 'vitest'
import { outlineOf } from './shapes.ts'

const HANDS = ['agent', 'human', 'workflow'] as const

test('each hand has a shape of its own', () => {
  const box = { x: 10, y: 7, width: 80, height: 14 }
  expect(new Set(HANDS.map((hand) => outlineOf(hand, box))).size).toBe(3)
  expect(outlineOf('human', box)).toBe('M10 14L16 7H84L90 14L84 21H16Z')
})

test.each(HANDS)('a narrow bar of the %s hand stays within its box', (hand) => {
  const numbers = outlineOf(hand, { x: 0, y: 0, width: 3, height: 14 }).match(/-?\d+(\.\d+)?/g) ?? []
  expect(numbers.map(Number).every((number) => Math.abs(number) <= 14)).toBe(true)
})
