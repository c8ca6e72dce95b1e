/** The power cut at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runPowerCut } from '#test/chaos/stages/power-cut.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][V1] 150 power cuts lose nothing acknowledged, and the same with synchronous=NORMAL does', async (context) => {
  expectPassed(await runPowerCut({ images: 150, controlImages: 40, seed: SMALL_SEED }), context)
})
