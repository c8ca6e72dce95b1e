/** The HTTP fuzz at the size of `npm test`; the large number is in stages/list.ts. */
import { test } from 'vitest'
import { runHttpFuzz } from '#test/chaos/stages/http-fuzz.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[S5] 600 requests of any kind get documented answers, and GET changes nothing', async (context) => {
  expectPassed(await runHttpFuzz({ requests: 600, seed: SMALL_SEED }), context)
})
