/**
 * Peers: the failures that others are known for, as in `npm test`, with every order and every run that the promise speaks of.
 *
 * Owns nothing but the size: the tests are those of ../peers.test.ts.
 */
import { Findings, type StageReport, skipped } from './report.ts'
import { failuresIn, runTests } from './run-tests.ts'

const NAME = 'peers'

/** Tells the tests to play in full. */
export const WHOLE = 'TRIHAND_PEERS_WHOLE'

export const runPeers = async (): Promise<StageReport> => {
  const findings = new Findings()
  const run = await runTests({ project: 'chaos', files: ['test/chaos/peers.test.ts'], env: { [WHOLE]: '1' } })
  const inState = (state: string) => run.tests.filter((test) => test.state === state)
  if (inState('skipped').length > 0 && inState('failed').length === 0)
    return skipped(NAME, 'pg', inState('skipped')[0]?.reason ?? 'there is no Postgres')
  findings.checks = run.tests.length
  for (const failure of failuresIn(run)) findings.violation(failure)
  return findings.report(NAME, [])
}
