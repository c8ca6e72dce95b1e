/**
 * Policies: every property of flow control, schedules, placement and similar rules against its reference, at full size.
 *
 * The properties are those of `npm test`, which runs fewer cases of each (test/support/stories/policy-cases.ts). Owns their number and that
 * none of them ran fewer; never names a policy.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT, temporaryFolder } from '#test/support/places.ts'
import type { StageReport as TestRun } from '#test/support/project/stage-reporter.ts'
import { Findings, type StageReport } from './report.ts'
import { failuresIn, runTests } from './run-tests.ts'

export interface PoliciesOptions {
  /** Of each property. */
  readonly cases: number
  readonly seed: number
  /** Among the files with such properties, those whose name contains this. Absent: all. */
  readonly only?: string
}

const NAME = 'policies'
const ROOM = 'src/model'
const MARK = 'policyCases('

/** Every file that takes its number of cases from there is one of them. */
const filesWithProperties = (only: string): readonly string[] =>
  readdirSync(join(PROJECT, ROOM), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && path.includes(only))
    .map((path) => `${ROOM}/${path}`)
    .filter((path) => readFileSync(join(PROJECT, path), 'utf8').includes(MARK))

interface Played {
  readonly run: TestRun
  /** Of each property that held. */
  readonly cases: readonly number[]
}

const play = async (files: readonly string[], { cases, seed }: PoliciesOptions): Promise<Played> => {
  const folder = temporaryFolder(NAME)
  const tally = join(folder.path, 'tally')
  try {
    const env = { TRIHAND_POLICY_CASES: String(cases), TRIHAND_POLICY_TALLY: tally, TRIHAND_SEED: String(seed) }
    const run = await runTests({ project: 'unit', files, env })
    const counts = existsSync(tally) ? readFileSync(tally, 'utf8').trimEnd().split('\n').map(Number) : []
    return { run, cases: counts }
  } finally {
    folder.remove()
  }
}

export const runPolicies = async (options: PoliciesOptions): Promise<StageReport> => {
  const findings = new Findings()
  const files = filesWithProperties(options.only ?? '')
  const { run, cases } = await play(files, options)
  findings.operations = cases.reduce((sum, played) => sum + played, 0)
  findings.checks = cases.length
  for (const failure of failuresIn(run)) findings.violation(failure)
  if (cases.length < files.length) findings.violation(`${files.length} files told of ${cases.length} properties`)
  const least = Math.min(...cases)
  if (least < options.cases) findings.violation(`a property played ${least} cases of ${options.cases}`)
  findings.note(`${cases.length} properties in ${files.length} files, ${least} cases or more of each`)
  return findings.report(NAME, [])
}
