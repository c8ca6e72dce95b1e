/** Ten thousand schedules that come due in the same second, through one throttle. */
import { expect, test } from 'vitest'
import { fn } from '../../src/executors/workflow/function.ts'
import { LOCAL_TENANT } from '../../src/model/ids.ts'
import { startTestSystem, type TestSystem } from '../../src/testing/system.ts'
import { onEveryStore } from '../support/stores.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const SECOND = 1_000
const SCHEDULES = 10_000
const PER_SECOND = 1_000

onEveryStore('many schedules', (store) => {
  test('[H3][H5] 10,000 due in the same second start within the throttle, and none is lost', async () => {
    const starts: number[] = []
    const held: { system?: TestSystem } = {}
    const system = await startTestSystem(
      {
        name: 'crowd',
        events: { 'bell.rang': null },
        schedules: Array.from({ length: SCHEDULES }, (_, n) => ({
          name: `s${n}`,
          at: START + MINUTE + (n % SECOND),
          emit: 'bell.rang',
          input: { n },
        })),
        functions: [
          fn('hear', { trigger: 'bell.rang', throttle: { limit: PER_SECOND, period: '1s' } }, () => {
            starts.push((held.system?.clock.now() ?? START) - START - MINUTE)
            return null
          }),
        ],
      },
      store(),
    )
    held.system = system
    await system.advance('2m')
    expect(starts).toHaveLength(SCHEDULES)
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(SCHEDULES)
    const inOrder = starts.toSorted((a, b) => a - b)
    for (let i = PER_SECOND; i < SCHEDULES; i++)
      expect((inOrder[i] ?? 0) - (inOrder[i - PER_SECOND] ?? 0)).toBeGreaterThanOrEqual(SECOND)
    await system.close()
  }, 300_000)
})
