/**
 * Tests of `npm test` as a part of a stage: the same files with more cases, in a run of their own.
 *
 * Owns that run and the reading of its report. The number of cases is passed to the tests by the environment.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT, temporaryFolder } from '#test/support/places.ts'
import type { StageReport as TestRun } from '#test/support/project/stage-reporter.ts'

const MEBIBYTE = 2 ** 20
const SAID_MEBIBYTES = 64
const LAST_WORDS = -2_000
const LONGEST_REASON = 1_000

export interface Chosen {
  readonly project: string
  readonly files: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export const runTests = async ({ project, files, env }: Chosen): Promise<TestRun> => {
  const folder = temporaryFolder('tests')
  const report = join(folder.path, 'report.json')
  const args = [join(PROJECT, 'node_modules/vitest/vitest.mjs'), 'run', '--project', project, ...files]
  const options = { cwd: PROJECT, env: { ...process.env, ...env, TRIHAND_REPORT: report } }
  try {
    const said = await new Promise<string>((resolve) =>
      // A run with a failed test exits with 1; the failures are in the report.
      execFile(process.execPath, args, { ...options, maxBuffer: SAID_MEBIBYTES * MEBIBYTE }, (_error, stdout, stderr) =>
        resolve(`${stdout}${stderr}`),
      ),
    )
    if (!existsSync(report)) throw new Error(`the tests left no report: ${said.slice(LAST_WORDS)}`)
    return JSON.parse(readFileSync(report, 'utf8')) as TestRun
  } finally {
    folder.remove()
  }
}

/** Every test that did not pass, one sentence each. */
export const failuresIn = ({ tests, errors }: TestRun): readonly string[] => [
  ...tests
    .filter(({ state }) => state !== 'passed')
    .map(({ file, title, reason }) => `${file}: ${title}: ${reason?.slice(0, LONGEST_REASON) ?? 'without a reason'}`),
  ...errors,
]
