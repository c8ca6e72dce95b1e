/** Restate and its workers killed, at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runRestate } from '#test/chaos/stages/restate.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][R4][R11] kills of workers and of the Restate server lose nothing, and every run ends once', async (context) => {
  expectPassed(await runRestate({ rounds: 2, stops: 1, seed: SMALL_SEED }), context)
})
