/** The crash sweep at the size of `npm test`: every scenario with one crash, some on SQLite. Pairs of crashes are in stages/list.ts. */
import { test } from 'vitest'
import { runCrashSweep } from '#test/chaos/stages/crash-sweep.ts'
import { expectPassed } from './expect-passed.ts'

test('[R1][R3][R6][R7][R11][Q32] a crash at any ledger call or effect loses nothing and doubles nothing', async (context) => {
  expectPassed(await runCrashSweep({ scenarios: 100, onFile: 6, pairsUpTo: 0 }), context)
})
