/**
 * Turns a stage's report into the result of a test: prints its row, skips loudly, fails with the first sentences.
 *
 * Owns nothing of the stage; `npm run test:chaos` reads the same reports (scripts/chaos.mjs).
 */
import { expect, type TestContext } from 'vitest'
import type { StageReport } from '#test/chaos/stages/report.ts'

export const SMALL_SEED = Number(process.env['TRIHAND_SEED'] ?? 1)

export const expectPassed = (report: StageReport, context: TestContext): void => {
  const { name, status, seconds, operations, checks, violations, faults, controls = [] } = report
  console.log(
    JSON.stringify({ name, status, seed: SMALL_SEED, seconds, operations, checks, violations, faults, controls }),
  )
  if (status === 'skipped') context.skip(report.reason ?? 'no reason given')
  expect(report.reason).toBeNull()
  expect(status).toBe('passed')
}
