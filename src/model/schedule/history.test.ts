/** The past of a schedule as a list of slots. */
import { expect, test } from 'vitest'
import { buffered, created, ended, fired, HOUR, planned, skipped } from '#test/support/stories/schedule-story.ts'
import { pastSlots } from './history.ts'

const told = (...facts: Parameters<typeof pastSlots>[0]) =>
  pastSlots(facts, 20).map(({ slot, outcome, reason, count }) => [slot / HOUR, outcome, reason ?? count])

test('a slot that ran shows the end of its run, and one that is running shows none yet', () =>
  expect(told(created(), fired(HOUR), ended(2 * HOUR, HOUR, 'failed'), fired(2 * HOUR))).toEqual([
    [1, 'failed', 1],
    [2, 'running', 1],
  ]))

test('consecutive skipped slots are one entry, with their reason and number', () => {
  const [past] = pastSlots([created(), skipped(9 * HOUR, 'paused', HOUR, 5 * HOUR)], 20)
  expect(past).toMatchObject({ slot: HOUR, until: 5 * HOUR, count: 5, outcome: 'skipped', reason: 'paused', run: null })
})

test('a slot that waited is listed once: as the run that it became, or as skipped', () => {
  const waiting = [created(), buffered(2 * HOUR, planned(HOUR), planned(2 * HOUR))]
  expect(told(...waiting)).toEqual([
    [1, 'waiting', 1],
    [2, 'waiting', 1],
  ])
  expect(told(...waiting, skipped(3 * HOUR, 'overlap', HOUR, HOUR), fired(2 * HOUR))).toEqual([
    [2, 'running', 1],
    [1, 'skipped', 'overlap'],
  ])
})

test('only the last slots are listed', () => {
  const many = Array.from({ length: 30 }, (_, i) => fired((i + 1) * HOUR))
  expect(pastSlots(many, 20).map(({ slot }) => slot / HOUR)).toEqual(many.slice(-20).map((_, i) => i + 11))
})
