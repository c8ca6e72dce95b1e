/** Failing disks at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runStorage } from '#test/chaos/stages/storage.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][V1][V30] full, failing and read-only disks lose nothing acknowledged and heal within 5 s', async (context) => {
  expectPassed(await runStorage({ cycles: 3, images: 15, seed: SMALL_SEED }), context)
})
