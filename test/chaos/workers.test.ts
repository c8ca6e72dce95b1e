/** Four workers under load, at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runWorkers } from '#test/chaos/stages/workers.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[N5][N10][R4][R11][V12] four workers under load, killed and stopped one after another: every run ends once', async (context) => {
  expectPassed(await runWorkers({ seconds: 5, killEveryMs: 500, stops: 1, seed: SMALL_SEED }), context)
})
