/** Lanes with short and long keys: how they are stored and compared. */
import { expect, test } from 'vitest'
import { laneOf, readLane } from '#model/flow/lane.ts'
import { comparableLane, storedLane } from './lanes.ts'

const slot = (key: string) => ({ key, limit: 1, weight: 1 })
const stored = (...keys: readonly string[]) => storedLane({ handler: 'work', slots: keys.map(slot) })
const keysOf = (lane: string) => readLane(comparableLane(lane)).slots.map(({ key }) => key)
/** The lane as a program from before the digests stored it. */
const older = (...keys: readonly string[]) => laneOf('work', 0, keys.map(slot))

test('postgres-lanes-1: a lane that fits an index is stored unchanged, also with keys of moderate length', () => {
  expect(storedLane({ handler: 'work' })).toBe('')
  expect(stored('a')).toBe(older('a'))
  expect(stored('x'.repeat(300))).toBe(older('x'.repeat(300)))
})

test('postgres-lanes-1: the longest lane fits an index entry (14.7)', () => {
  const lane = stored(...Array.from({ length: 17 }, (_, i) => `${i}${'語'.repeat(5_000)}`))
  expect(Buffer.byteLength(lane)).toBeLessThan(2_400)
  const edge = stored(...Array.from({ length: 17 }, (_, i) => `${i % 10}${'x'.repeat(92)}`))
  expect(Buffer.byteLength(edge)).toBeLessThan(2_400)
})

test('postgres-lanes-1: a key compares equal no matter how its lane is stored (14.7)', () => {
  const [long, very] = ['x'.repeat(300), 'y'.repeat(10_000)]
  const [alone] = keysOf(older(long))
  expect(keysOf(stored(long, very))[0]).toBe(alone)
  expect(keysOf(older(very))).toEqual(keysOf(stored(very)))
  expect(new Set([...keysOf(stored('\ud83d'.repeat(500))), ...keysOf(stored('\ud83e'.repeat(500)))]).size).toBe(2)
})
