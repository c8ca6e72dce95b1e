/** The simulator at the size of `npm test`: schedules, kept seeds, arbitrary tapes, and seeded bugs. The large numbers are in stages/list.ts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BILLS, type BillName } from '#test/chaos/sim/bills.ts'
import { type Failed, playSeed, playTape, runCampaign } from '#test/chaos/sim/campaign.ts'
import { FAULT_NAMES } from '#test/chaos/sim/faults.ts'
import { huntAgain } from '#test/chaos/sim/mutants/hunt.ts'
import type { Systems } from '#test/chaos/sim/system.ts'
import { Tape } from '#test/chaos/sim/tape.ts'
import { SMALL_SEED } from './expect-passed.ts'
import seeds from './seeds.json' with { type: 'json' }

const SCHEDULES = 800
const TAPES = 200
const played = {
  plain: BILLS.plain.systems(),
  coordinators: BILLS.coordinators.systems(),
  people: BILLS.people.systems(),
  lives: BILLS.lives.systems(),
}
const { plain: systems } = played

const anyTape = fc.array(fc.nat(), { maxLength: 500, size: 'max' })
const holdsIn =
  (played: Systems) =>
  async (tape: readonly number[]): Promise<void> => {
    const { violations } = await playTape(Tape.of(tape), { systems: played })
    expect(violations).toEqual([])
  }

/** Shrinks the tape of a failed seed to the few choices that matter. */
const shortest = async ({ seed, tape }: Failed, played: Systems): Promise<string> => {
  const details = await fc.check(fc.asyncProperty(anyTape, holdsIn(played)), { numRuns: 1, examples: [[[...tape]]] })
  return `seed ${seed}: ${JSON.stringify(details.counterexample)} ${details.errorInstance}`
}

test('[R2][R3][R4][R6][R11][R12][V31] 800 schedules of faults and orders break no promise', async () => {
  const report = await runCampaign(SMALL_SEED, SCHEDULES, { systems }, 1)
  const [failed] = report.failed
  expect(failed === undefined ? null : await shortest(failed, systems)).toBeNull()
  expect(report.schedules).toBe(SCHEDULES)
  const { fired } = report
  expect(FAULT_NAMES.filter((name) => fired[name] === 0)).toEqual([])
})

const REST: readonly (readonly [string, BillName, number])[] = [
  ['[H4][H5][H6][H7][J3] 250 schedules of gates and schedules', 'coordinators', 250],
  ['[C1][C5][C11][R6] 100 schedules of people who decide, hand on and are late', 'people', 100],
  ['[D4][L10][K5][N5] 150 schedules of retries, keys, children, versions and slots of the past', 'lives', 150],
]

test.each(REST)('%s break no promise', async (_, bill, schedules) => {
  const report = await runCampaign(SMALL_SEED, schedules, { systems: played[bill] }, 1)
  const [failed] = report.failed
  expect(failed === undefined ? null : await shortest(failed, played[bill])).toBeNull()
  expect(report.schedules).toBe(schedules)
})

test.each(BILLS.people.mutants)('a seeded bug around people is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, played.people, 500)).foundAt).not.toBeNull()
})

test.each(BILLS.lives.mutants)('a seeded bug of retries, keys and versions is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, played.lives, 500)).foundAt).not.toBeNull()
})

const billOf = (kept: {
  readonly coordinators?: boolean
  readonly people?: boolean
  readonly lives?: boolean
}): BillName =>
  kept.coordinators === true
    ? 'coordinators'
    : kept.people === true
      ? 'people'
      : kept.lives === true
        ? 'lives'
        : 'plain'

test.each(seeds)('seed $seed stays fixed: $found', async ({ seed, ...kept }) => {
  expect((await playSeed(seed, { systems: played[billOf(kept)] })).violations).toEqual([])
})

test('any tape is a schedule that breaks no promise', async () => {
  await fc.assert(fc.asyncProperty(anyTape, holdsIn(systems)), { numRuns: TAPES, seed: SMALL_SEED })
})

test('the same tape gives the same history', async () => {
  const [first, second] = [await playSeed(487, { systems }), await playSeed(487, { systems })]
  expect(second.tell()).toEqual(first.tell())
  expect(second.tape).toEqual(first.tape)
})

test.each(BILLS.coordinators.mutants)('a seeded bug of coordinators is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, played.coordinators, 500)).foundAt).not.toBeNull()
})

test.each(BILLS.plain.mutants)('a seeded bug is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, systems, 1_500)).foundAt).not.toBeNull()
})
