/** The stage of all policies, with one of them; the others are tests of their own, and the large numbers are in stages/list.ts. */
import { expect, test } from 'vitest'
import { runPolicies } from '#test/chaos/stages/policies.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('every property of a policy runs the requested number of cases, and reports how many it ran', async (context) => {
  const report = await runPolicies({ cases: 3_000, only: 'retry', seed: SMALL_SEED })
  expectPassed(report, context)
  expect(report.operations).toBe(3_000)
})
