/** The simulator at the size of `npm test`: schedules, kept seeds, any tape, and seeded bugs. The large numbers are in stages/list.ts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SMALL_SEED } from './expect-passed.ts'
import seeds from './seeds.json' with { type: 'json' }
import { type Failed, newSystems, playSeed, playTape, runCampaign } from './sim/campaign.ts'
import { FAULT_NAMES } from './sim/faults.ts'
import { hunt, MUTANTS } from './sim/mutants/hunt.ts'
import { Tape } from './sim/tape.ts'

const SCHEDULES = 3_000
const TAPES = 200
const systems = newSystems()

const anyTape = fc.array(fc.nat(), { maxLength: 500, size: 'max' })
const holds = async (tape: readonly number[]): Promise<void> => {
  const { violations } = await playTape(Tape.of(tape), { systems })
  expect(violations).toEqual([])
}

/** Shrinks the tape of a failed seed to the few choices that matter. */
const shortest = async ({ seed, tape }: Failed): Promise<string> => {
  const details = await fc.check(fc.asyncProperty(anyTape, holds), { numRuns: 1, examples: [[[...tape]]] })
  return `seed ${seed}: ${JSON.stringify(details.counterexample)} ${details.errorInstance}`
}

test('[R2][R3][R4][R6][R11][R12][V31] 3,000 schedules of faults and orders break no promise', async () => {
  const report = await runCampaign(SMALL_SEED, SCHEDULES, { systems }, 1)
  const [failed] = report.failed
  expect(failed === undefined ? null : await shortest(failed)).toBeNull()
  expect(report.schedules).toBe(SCHEDULES)
  const { fired } = report
  expect(FAULT_NAMES.filter((name) => fired[name] === 0)).toEqual([])
})

test.each(seeds)('seed $seed stays mended: $found', async ({ seed }) => {
  expect((await playSeed(seed, { systems })).violations).toEqual([])
})

test('any tape at all is a schedule that breaks no promise', async () => {
  await fc.assert(fc.asyncProperty(anyTape, holds), { numRuns: TAPES, seed: SMALL_SEED })
})

test('the same tape gives the same history', async () => {
  const [first, second] = [await playSeed(487, { systems }), await playSeed(487, { systems })]
  expect(second.tell()).toEqual(first.tell())
  expect(second.tape).toEqual(first.tape)
})

test.each(MUTANTS)('a seeded bug is found: $name', async (mutant) => {
  expect((await hunt(mutant, systems, 1_500)).foundAt).not.toBeNull()
})
