/** Kills among workers on Postgres at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runKillPostgres } from '#test/chaos/stages/kill-postgres.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][R4][R6][R11][V12] 6 kills and 2 stops among Postgres workers lose nothing, and the others take over', async (context) => {
  expectPassed(await runKillPostgres({ kills: 6, stops: 2, timedKills: 0, seed: SMALL_SEED }), context)
})
