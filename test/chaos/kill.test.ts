/** Kills of one process at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runKill } from '#test/chaos/stages/kill.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][R2][R5][R6][R7][R11] 10 kills of a process on SQLite lose nothing and repeat no once effect', async (context) => {
  expectPassed(await runKill({ kills: 10, controlKills: 6, seed: SMALL_SEED }), context)
})
