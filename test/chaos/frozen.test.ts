/** Workers that are frozen in the middle of an effect, at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runFrozen } from '#test/chaos/stages/frozen.ts'
import { expectPassed } from './expect-passed.ts'

test('[R6] a frozen worker that resumes doubles no payment, unless the person who ran it again was warned in words (13.1.6)', async (context) => {
  expectPassed(await runFrozen({ rounds: 5, controlRounds: 2 }), context)
})
