/**
 * Many: tests that depend on large numbers, at full size: known failures of similar systems, many schedules, keys of the manifest.
 *
 * Owns which tests those are. They are those of `npm test`, which runs a part (../whole.ts).
 */
import { WHOLE } from '#test/chaos/whole.ts'
import { Findings, type StageReport, skipped } from './report.ts'
import { failuresIn, runTests } from './run-tests.ts'

const NAME = 'many'
const FILES = [
  'test/chaos/peers.test.ts',
  'test/chaos/many-schedules.test.ts',
  'test/chaos/keyed-kills.test.ts',
  'test/chaos/gate-crowds.test.ts',
  'test/chaos/manifest-keys.test.ts',
]

export const runMany = async (): Promise<StageReport> => {
  const findings = new Findings()
  const run = await runTests({ project: 'chaos', files: FILES, env: { [WHOLE]: '1' } })
  const inState = (state: string) => run.tests.filter((test) => test.state === state)
  if (inState('skipped').length > 0 && inState('failed').length === 0)
    return skipped(NAME, 'pg', inState('skipped')[0]?.reason ?? 'there is no Postgres')
  findings.checks = run.tests.length
  for (const failure of failuresIn(run)) findings.violation(failure)
  return findings.report(NAME, [])
}
