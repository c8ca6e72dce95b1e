/**
 * `trihand simulate [path]`: rehearses a manifest whose functions need no code yet, and reports what was reached and what was not.
 *
 * Owns flags and printing. Exit 0: everything was reached; 1: something was not, or a run failed; 4: the manifest does not load.
 */
import { parseJson } from '#cli/terminal/json-argument.ts'
import { EXIT, type Output, visible } from '#cli/terminal/output.ts'
import type { Verb } from '#cli/terminal/shell.ts'
import { HUMANS, PATHS } from '#manifest/simulate/cast.ts'
import { isComplete, type Reach, type Rehearsal } from '#manifest/simulate/report.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import { findManifest, readManifest } from './folder.ts'
import { printFindings } from './manifest.ts'
import { rehearse } from './rehearse.ts'

export interface SimulateFlags {
  readonly path?: string
  readonly event?: string
  readonly data?: string
  readonly seed?: string
  readonly paths?: string
  readonly humans?: string
  readonly maxRuns?: string
}

const DEFAULT_SEED = 1
const DEFAULT_RUNS = 500

const oneOf = <Word extends string>(
  flag: string,
  given: string | undefined,
  words: readonly Word[],
  usual: Word,
): Word => {
  const found = given === undefined ? usual : words.find((word) => word === given)
  if (found === undefined) throw new TrihandError('CONFIG_INVALID', `${flag} must be one of ${words.join(', ')}`)
  return found
}

const wholeOf = (flag: string, given: string | undefined, usual: number): number => {
  if (given === undefined) return usual
  if (!/^\d{1,9}$/.test(given)) throw new TrihandError('CONFIG_INVALID', `${flag} must be a whole number`)
  return Number(given)
}

const PARTS = ['events', 'handlers', 'actions', 'routes', 'states'] as const

const tellReach = (output: Output, word: string, { reached, missed }: Reach): void => {
  if (reached.length + missed.length === 0) return
  output.line(`${word}: ${reached.length} of ${reached.length + missed.length} reached`)
  for (const { name, why } of missed) output.line(visible(`  ${name} was not reached: ${why}`))
}

const tell = (output: Output, rehearsal: Rehearsal): void => {
  output.line(visible(`${rehearsal.system}, simulated with seed ${rehearsal.seed}: ${rehearsal.runs} runs`))
  for (const part of PARTS) tellReach(output, part, rehearsal[part])
  for (const type of rehearsal.unproduced) output.line(visible(`no part of the system sends ${type}`))
  for (const loop of rehearsal.loops) output.line(visible(`stopped a loop: ${loop}`))
  for (const { handler, error } of rehearsal.failures) output.line(visible(`${handler} failed: ${error}`))
}

export const simulate: Verb<SimulateFlags> = async ({ output }, flags) => {
  const { manifest, findings } = readManifest(findManifest(flags.path))
  if (manifest === null) {
    const errors = findings.filter(({ level }) => level === 'error')
    if (output.isJson) output.document({ errors })
    else printFindings(output, errors, (text) => output.talk(text))
    return EXIT.invalid
  }
  const rehearsal = await rehearse(manifest, {
    seed: wholeOf('--seed', flags.seed, DEFAULT_SEED),
    paths: oneOf('--paths', flags.paths, PATHS, 'all'),
    humans: oneOf('--humans', flags.humans, HUMANS, 'all'),
    maxRuns: wholeOf('--max-runs', flags.maxRuns, DEFAULT_RUNS),
    ...(flags.event === undefined ? {} : { event: flags.event }),
    ...(flags.data === undefined ? {} : { data: toJson(parseJson(flags.data, 'the data')) }),
  })
  const isGood = isComplete(rehearsal)
  if (output.isJson) output.document({ ...rehearsal, complete: isGood, findings })
  else tell(output, rehearsal)
  return isGood || flags.event !== undefined ? (rehearsal.failures.length > 0 ? EXIT.no : EXIT.done) : EXIT.no
}
