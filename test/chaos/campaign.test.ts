/** Kills of the campaign at the size of `npm test`; the large numbers are in stages/list.ts. */
import { test } from 'vitest'
import { runCampaign } from '#test/chaos/stages/campaign.ts'
import { expectPassed, SMALL_SEED } from './expect-passed.ts'

test('[R1][R5][B10][C5] 4 kills of the campaign pay no answer twice, send no mail twice and lose no decision', async (context) => {
  expectPassed(await runCampaign({ kills: 4, controlKills: 1, seed: SMALL_SEED }), context)
})
