/** Fuzzing at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runFuzz } from '#test/chaos/stages/fuzz.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[A2] 100 damaged manifests and 3,000 expressions end with a value or a refusal that has a place', async (context) => {
  expectPassed(await runFuzz({ manifests: 100, expressions: 3_000, processes: 2, seed: SMALL_SEED }), context)
})
