/** Two versions on one Postgres at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runMixedFleet } from '#test/chaos/stages/mixed-fleet.ts'
import { expectPassed } from './expect-passed.ts'

test('[N5] two versions on one Postgres, workers restarted as the other version: no run fails, no step is done twice (13.2.2)', async (context) => {
  expectPassed(await runMixedFleet({ runs: 160, rounds: 2, controlRuns: 40, controlRounds: 1 }), context)
})
