/** Fuzzing at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'
import { runFuzz } from './stages/fuzz.ts'

test('[A2] 200 damaged manifests and 5,000 expressions end with a value or a refusal that has a place', async (context) => {
  expectPassed(await runFuzz({ manifests: 200, expressions: 5_000, processes: 2, seed: SMALL_SEED }), context)
})
