/** The simulator at the size of `npm test`: schedules, kept seeds, any tape, and seeded bugs. The large numbers are in stages/list.ts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SMALL_SEED } from './expect-passed.ts'
import seeds from './seeds.json' with { type: 'json' }
import {
  type Failed,
  newClerkSystems,
  newPeopleSystems,
  newSystems,
  playSeed,
  playTape,
  runCampaign,
} from './sim/campaign.ts'
import { FAULT_NAMES } from './sim/faults.ts'
import { CLERK_MUTANTS } from './sim/mutants/clerks.ts'
import { huntAgain, MUTANTS } from './sim/mutants/hunt.ts'
import { PEOPLE_MUTANTS } from './sim/mutants/people.ts'
import type { Systems } from './sim/system.ts'
import { Tape } from './sim/tape.ts'

const SCHEDULES = 1_200
const CLERK_SCHEDULES = 250
const PEOPLE_SCHEDULES = 100
const TAPES = 200
const systems = newSystems()
const clerks = newClerkSystems()
const people = newPeopleSystems()

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

test('[R2][R3][R4][R6][R11][R12][V31] 1,200 schedules of faults and orders break no promise', async () => {
  const report = await runCampaign(SMALL_SEED, SCHEDULES, { systems }, 1)
  const [failed] = report.failed
  expect(failed === undefined ? null : await shortest(failed, systems)).toBeNull()
  expect(report.schedules).toBe(SCHEDULES)
  const { fired } = report
  expect(FAULT_NAMES.filter((name) => fired[name] === 0)).toEqual([])
})

test('[H4][H5][H6][H7][J3] 250 schedules of gates and schedules break no promise', async () => {
  const report = await runCampaign(SMALL_SEED, CLERK_SCHEDULES, { systems: clerks }, 1)
  const [failed] = report.failed
  expect(failed === undefined ? null : await shortest(failed, clerks)).toBeNull()
  expect(report.schedules).toBe(CLERK_SCHEDULES)
})

test('[C1][C5][C11][R6] 100 schedules of people who decide, hand on and are late break no promise', async () => {
  const report = await runCampaign(SMALL_SEED, PEOPLE_SCHEDULES, { systems: people }, 1)
  const [failed] = report.failed
  expect(failed === undefined ? null : await shortest(failed, people)).toBeNull()
  expect(report.schedules).toBe(PEOPLE_SCHEDULES)
})

test.each(PEOPLE_MUTANTS)('a seeded bug around people is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, people, 500)).foundAt).not.toBeNull()
})

test.each(seeds)(
  'seed $seed stays mended: $found',
  async ({ seed, clerks: isClerks = false, people: isPeople = false }) => {
    const played = isClerks ? clerks : isPeople ? people : systems
    expect((await playSeed(seed, { systems: played })).violations).toEqual([])
  },
)

test('any tape at all is a schedule that breaks no promise', async () => {
  await fc.assert(fc.asyncProperty(anyTape, holdsIn(systems)), { numRuns: TAPES, seed: SMALL_SEED })
})

test('the same tape gives the same history', async () => {
  const [first, second] = [await playSeed(487, { systems }), await playSeed(487, { systems })]
  expect(second.tell()).toEqual(first.tell())
  expect(second.tape).toEqual(first.tape)
})

test.each(CLERK_MUTANTS)('a seeded bug of clerks is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, clerks, 500)).foundAt).not.toBeNull()
})

test.each(MUTANTS)('a seeded bug is found: $name', async (mutant) => {
  expect((await huntAgain(mutant, systems, 1_500)).foundAt).not.toBeNull()
})
