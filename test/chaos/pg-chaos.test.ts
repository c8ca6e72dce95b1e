/** Postgres chaos at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runPgChaos } from '#test/chaos/stages/pg-chaos.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][R2][V1][V2] 60 commits with an unknown outcome are each there exactly once, through 2 restarts of Postgres', async (context) => {
  expectPassed(await runPgChaos({ unknowns: 60, restarts: 2, blackHoles: 1, sieges: 1, seed: SMALL_SEED }), context)
})
