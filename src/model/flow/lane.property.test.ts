/** Lanes compared with an oracle that picks one run at a time and counts everything again for each. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { choose, type Due, laneOf, NO_LIMIT, Occupancy, readLane, type Slot } from './lane.ts'

const CASES = policyCases(31)

const slot: fc.Arbitrary<Slot> = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  limit: fc.integer({ min: 1, max: 4 }),
  weight: fc.integer({ min: 1, max: 2 }),
})
const FAIR: Slot = { key: 'fair', limit: NO_LIMIT, weight: 1 }
const lane = fc
  .tuple(
    fc.constantFrom('mail', 'print'),
    fc.constantFrom(0, 0, 1, -2),
    fc.uniqueArray(slot, { maxLength: 2, selector: ({ key }) => key }),
  )
  .chain(([handler, priority, slots]) =>
    fc
      .option(fc.constantFrom(1, 2, 3))
      .map((share) => laneOf(handler, priority, share === null ? slots : [...slots, { ...FAIR, share }])),
  )
const lanes = fc.array(lane, { minLength: 1, maxLength: 5 })
const world = lanes.chain((some) =>
  fc.record({
    due: fc.array(fc.tuple(fc.constantFrom(...some), fc.integer({ min: 0, max: 5_000 })), { maxLength: 14 }),
    held: fc.array(fc.constantFrom(...some), { maxLength: 4 }),
    limit: fc.nat(8),
  }),
)

type Run = Due & { readonly key: number }

const rankOf = ({ lane: text, wakeAt }: Run): number => wakeAt - readLane(text).priority * 1000
const slotsOf = (text: string): readonly Slot[] => readLane(text).slots
const isSooner = (a: Run, b: Run): boolean => rankOf(a) < rankOf(b) || (rankOf(a) === rankOf(b) && a.key < b.key)
const taken = (held: readonly string[], key: string): number =>
  held.flatMap(slotsOf).reduce((sum, one) => sum + (one.key === key ? one.weight : 0), 0)
const fits = (held: readonly string[], text: string): boolean =>
  slotsOf(text).every(({ key, limit, weight }) => taken(held, key) + weight <= limit)
/** How many leases its holders would have with one more, divided by their share. */
const turnOf = (held: readonly string[], text: string): number =>
  (held.filter((other) => JSON.stringify(slotsOf(other)) === JSON.stringify(slotsOf(text))).length + 1) /
  Math.max(1, ...slotsOf(text).map(({ share = 1 }) => share))

const oracle = (due: readonly Run[], before: readonly string[], limit: number): readonly Run[] => {
  const held = [...before]
  const waiting = new Set(due)
  const line: Run[] = []
  while (line.length < limit) {
    const free = [...waiting].filter((run) => slotsOf(run.lane).length === 0)
    const bound = [...waiting].filter((run) => slotsOf(run.lane).length > 0 && fits(held, run.lane))
    const soonest = free.reduce<Run | null>((best, run) => (best === null || isSooner(run, best) ? run : best), null)
    const inTurn = bound.reduce<Run | null>((best, run) => {
      if (best === null) return run
      const turns = turnOf(held, run.lane) - turnOf(held, best.lane)
      return turns < 0 || (turns === 0 && isSooner(run, best)) ? run : best
    }, null)
    const next = inTurn === null || (soonest !== null && isSooner(soonest, inTurn)) ? soonest : inTurn
    if (next === null) break
    waiting.delete(next)
    held.push(next.lane)
    line.push(next)
  }
  return line
}

const toRuns = (due: readonly (readonly [string, number])[]): readonly Run[] =>
  due.map(([text, wakeAt], key) => ({ lane: text, wakeAt, key }))
const occupancyOf = (held: readonly string[]): Occupancy =>
  new Occupancy(held.map((text) => ({ lane: text, count: 1 })))

test(
  'the line is the same as when runs are picked one by one',
  () =>
    fc.assert(
      fc.property(world, ({ due, held, limit }) => {
        const runs = toRuns(due)
        const whole = oracle(runs, held, runs.length)
        const { chosen, left } = choose(runs, occupancyOf(held), limit)
        expect(chosen).toEqual(whole.slice(0, limit))
        expect(left).toEqual(whole[limit] ?? null)
      }),
      CASES,
    ),
  PATIENCE_MS,
)

test(
  'lane-1: no slot is taken beyond the limit of the run that takes it',
  () =>
    fc.assert(
      fc.property(world, ({ due, held }) => {
        const after = [...held]
        for (const { lane: text } of choose(toRuns(due), occupancyOf(held), 100).chosen) {
          expect(fits(after, text)).toBe(true)
          after.push(text)
        }
      }),
      CASES,
    ),
  PATIENCE_MS,
)

test(
  'it is enough to look at as many runs of a lane as it has room for',
  () =>
    fc.assert(
      fc.property(world, ({ due, held, limit }) => {
        const runs = toRuns(due)
        const ahead = (run: Run): number =>
          runs.filter((other) => other.lane === run.lane && isSooner(other, run)).length
        const enough = (run: Run): number => Math.min(limit + 1, occupancyOf(held).roomIn(readLane(run.lane)))
        const firsts = runs.filter((run) => ahead(run) < enough(run))
        expect(choose(firsts, occupancyOf(held), limit)).toEqual(choose(runs, occupancyOf(held), limit))
      }),
      CASES,
    ),
  PATIENCE_MS,
)
