/** The rules of lanes, one case at a time. The properties are in lane.property.test.ts. */
import { expect, test } from 'vitest'
import { choose, laneOf, Occupancy, PLAIN_LANE, readLane, type Slot } from './lane.ts'

const slot = (key: string, limit = 1, weight = 1): Slot => ({ key, limit, weight })
let made = 0
const due = (lane: string, wakeAt = 0) => ({ lane, wakeAt, key: ++made })
const nobody = () => new Occupancy([])

test('a run without slots and priority is in the plain lane, whatever its handler', () => {
  expect(laneOf('mail')).toBe(PLAIN_LANE)
  expect(laneOf('mail', 0, [])).toBe(PLAIN_LANE)
  expect(readLane(PLAIN_LANE)).toMatchObject({ priority: 0, slots: [] })
})

test('a lane is read back as it was written, whatever its keys contain', () => {
  const slots = [slot('a\n"b"', 3, 2), slot('', 1, 1)]
  expect(readLane(laneOf('mail', -60, slots))).toMatchObject({ handler: 'mail', priority: -60, slots })
})

test('lane-1: room is what the live leases leave of the tightest slot', () => {
  const lane = laneOf('mail', 0, [slot('a', 5, 2), slot('b', 9)])
  expect(nobody().roomIn(readLane(lane))).toBe(2)
  const others = laneOf('print', 60, [slot('b', 20, 4)])
  expect(new Occupancy([{ lane: others, count: 2 }]).roomIn(readLane(lane))).toBe(1)
  expect(new Occupancy([{ lane: others, count: 3 }]).roomIn(readLane(lane))).toBe(0)
  expect(nobody().roomIn(readLane(PLAIN_LANE))).toBe(Infinity)
})

test('lane-1: a limit that was lowered below what is taken leaves no room, and never a negative one', () => {
  const before = laneOf('mail', 0, [slot('a', 5)])
  const after = laneOf('mail', 0, [slot('a', 2)])
  expect(new Occupancy([{ lane: before, count: 5 }]).roomIn(readLane(after))).toBe(0)
})

test('lane-2: the run that shares its slots with the fewest holders goes first', () => {
  const [busy, idle] = [laneOf('mail', 0, [slot('a', 9)]), laneOf('mail', 0, [slot('b', 9)])]
  const [first, second] = [due(busy, 0), due(idle, 5)]
  const { chosen } = choose([first, second], new Occupancy([{ lane: busy, count: 1 }]), 9)
  expect(chosen).toEqual([second, first])
})

test('lane-2: runs with the same slots take turns together, whatever their handler and priority', () => {
  const [low, high] = [laneOf('mail', 0, [slot('a', 9)]), laneOf('print', 10, [slot('a', 9)])]
  const [first, second] = [due(low, 0), due(high, 5_000)]
  const { chosen } = choose([first, second], new Occupancy([{ lane: high, count: 3 }]), 9)
  expect(chosen).toEqual([second, first])
})

test('lane-3: between runs with slots and runs without, the longer wait goes first', () => {
  const bound = laneOf('mail', 0, [slot('a', 9)])
  const runs = [due(PLAIN_LANE, 1), due(bound, 2), due(PLAIN_LANE, 3), due(bound, 4)]
  expect(choose(runs, nobody(), 9).chosen).toEqual(runs)
})

test('a run that waits only because of the limit is returned, a run that waits for room is not', () => {
  const lane = laneOf('mail', 0, [slot('a', 2)])
  const runs = [due(lane, 1), due(lane, 2), due(lane, 3)]
  expect(choose(runs, nobody(), 1)).toEqual({ chosen: [runs[0]], left: runs[1] })
  expect(choose(runs, nobody(), 2)).toEqual({ chosen: [runs[0], runs[1]], left: null })
  expect(choose(runs, nobody(), 0)).toEqual({ chosen: [], left: runs[0] })
})
