/**
 * A part of the fuzzing in a process of its own, for stages/fuzz.ts: runs its cases in batches and prints one line after each.
 *
 * Owns only the translation of its argument into work. A batch that never ends is noticed by its parent: no line comes.
 */
import fc from 'fast-check'
import { parse } from 'yaml'
import { anyExpression, ends } from '#test/support/manifest/any-expressions.ts'
import { damagedManifest, survives } from '#test/support/manifest/damaged-manifests.ts'

export interface FuzzInput {
  /** `bare`: the control, in which manifests are read only by a parser. */
  readonly what: 'manifest' | 'expression' | 'bare'
  readonly cases: number
  readonly seed: number
}

/** The seed of each batch, which repeats it. */
export interface FuzzLine {
  readonly seed: number
  readonly cases: number
  readonly refused: number
  /** What was thrown, and for which text. Null: nothing. */
  readonly failure: string | null
}

const SUBJECTS = {
  manifest: { texts: damagedManifest, batch: 100, play: (text: string) => survives(text).manifest === null },
  expression: { texts: anyExpression, batch: 5_000, play: (text: string) => void ends(text) },
  bare: { texts: damagedManifest, batch: 1, play: (text: string) => void parse(text, { logLevel: 'error' }) },
} as const

const playBatch = ({ what }: FuzzInput, seed: number, cases: number): FuzzLine => {
  const { texts, play } = SUBJECTS[what]
  let refused = 0
  const property = fc.property(texts, (text) => {
    if (play(text) === true) refused += 1
  })
  const { failed, counterexample, errorInstance } = fc.check(property, { numRuns: cases, seed, endOnFailure: true })
  const failure = failed ? `${String(errorInstance)} at ${JSON.stringify(counterexample?.[0])}` : null
  return { seed, cases, refused, failure }
}

const input = JSON.parse(process.argv[2] ?? '{}') as FuzzInput
// Ends with its parent, however that ends.
process.stdin.on('end', () => process.exit(1)).resume()
const { batch } = SUBJECTS[input.what]
for (let done = 0; done < input.cases; done += batch) {
  const line = playBatch(input, input.seed + done, Math.min(batch, input.cases - done))
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
process.exit(0)
