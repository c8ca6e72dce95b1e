/**
 * The number of cases that a property of a policy runs: few in `npm test`, all of them in the stage `policies` of `npm run test:chaos`.
 *
 * Owns both numbers and the tally, to which every property adds its cases. A property that takes its options from here is part of the
 * stage. `TRIHAND_SEED` runs other cases.
 */
import { appendFileSync } from 'node:fs'
import fc from 'fast-check'

const IN_TEST = 2_000
const asked = process.env['TRIHAND_POLICY_CASES']
const tally = process.env['TRIHAND_POLICY_TALLY']
const shift = process.env['TRIHAND_SEED'] ?? '1'

/** Longer than needed, for a busy machine and for all cases. */
export const PATIENCE_MS = asked === undefined ? 120_000 : 1_800_000

interface PolicyCases {
  readonly numRuns: number
  readonly seed?: number
  readonly reporter: <Case>(details: fc.RunDetails<Case>) => void
}

const report = <Case>(details: fc.RunDetails<Case>): void => {
  if (details.failed) throw new Error(fc.defaultReportMessage(details))
  if (tally !== undefined) appendFileSync(tally, `${details.numRuns}\n`)
}

export const policyCases = (seed: number, inTest = IN_TEST): PolicyCases => ({
  numRuns: asked === undefined ? inTest : Number(asked),
  ...(shift !== 'random' && { seed: seed + Number(shift) - 1 }),
  reporter: report,
})
