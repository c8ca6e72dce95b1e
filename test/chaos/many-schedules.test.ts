/** Thousands of schedules that become due in the same second, through one throttle, with a crash among them. All of them in stages/many.ts. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'
import { sized } from './whole.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const SECOND = 1_000
/** A durable store commits twice at each instant of virtual time, and a throttle makes many instants: there, a tenth is enough. */
const crowdFor = (store: string): { readonly schedules: number; readonly perSecond: number } => {
  const schedules = store === 'memory' ? sized({ whole: 10_000, part: 800 }) : sized({ whole: 1_000, part: 120 })
  return { schedules, perSecond: schedules / 2 }
}

onEveryStore('many schedules', (store) => {
  test('[H3][H5] many schedules due in the same second start within the throttle, and none is lost', async () => {
    const place = store()
    const { schedules, perSecond } = crowdFor(place.name)
    const starts = new Map<number, number>()
    const held: { system?: TestSystem } = {}
    const system = await startTestSystem(
      {
        name: 'crowd',
        events: { 'bell.rang': null },
        schedules: Array.from({ length: schedules }, (_, n) => ({
          name: `s${n}`,
          at: START + MINUTE + (n % 10) * 100,
          emit: 'bell.rang',
          input: { n },
        })),
        functions: [
          fn('hear', { trigger: 'bell.rang', throttle: { limit: perSecond, period: '1s' } }, ({ input }) => {
            const { n } = input as { n: number }
            starts.set(n, Math.min(starts.get(n) ?? Infinity, held.system?.clock.now() ?? START))
            return null
          }),
        ],
      },
      place,
    )
    held.system = system
    await system.advance(MINUTE + 450)
    await system.crash()
    await system.advance('1m')
    expect(starts.size).toBe(schedules)
    expect((await system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(schedules)
    const inOrder = [...starts.values()].sort((a, b) => a - b)
    const tight = inOrder.filter((at, i) => i >= perSecond && at - (inOrder[i - perSecond] ?? 0) < SECOND)
    expect(tight).toEqual([])
    await system.close()
  }, 300_000)
})
