/** Kills at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'
import { runKill } from './stages/kill.ts'
import { runKillPostgres } from './stages/kill-postgres.ts'

test('[R1][R2][R5][R6][R7][R11] 60 kills of a process on SQLite lose nothing and repeat no once effect', async (context) => {
  expectPassed(await runKill({ kills: 60, controlKills: 6, seed: SMALL_SEED }), context)
})

test('[R1][R4][R6][R11][V12] 20 kills and 3 stops among Postgres workers lose nothing, and the others take over', async (context) => {
  expectPassed(await runKillPostgres({ kills: 20, stops: 3, timedKills: 0, seed: SMALL_SEED }), context)
})
