/** One budget shared by many handlers: what one uses, the others wait for. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const START = Date.UTC(2026, 0, 1)

onEveryStore('shared throttle', (store) => {
  test('[H5] shared-budget-1: starts of all handlers that share a budget keep its distance, whatever triggered them, across a crash', async () => {
    const starts: { readonly who: string; readonly at: number }[] = []
    const held: { system?: TestSystem } = {}
    const note = (who: string) => () => {
      starts.push({ who, at: (held.system?.clock.now() ?? START) - START })
      return null
    }
    const throttle = { shared: 'mail' }
    const system = await startTestSystem(
      {
        name: 'mailing',
        events: { 'order.placed': null },
        limits: { shared: { mail: { limit: 1, period: '10s' } } },
        functions: [
          fn('thank', { trigger: 'order.placed', throttle }, note('thank')),
          fn('invoice', { trigger: 'order.placed', throttle }, note('invoice')),
          fn('remind', { throttle }, note('remind')),
          fn('count', { trigger: 'order.placed' }, () => null),
        ],
        schedules: [{ name: 'daily', at: START + 5_000, function: 'remind' }],
      },
      store(),
    )
    held.system = system
    for (const n of [1, 2, 3]) await system.send({ type: 'order.placed', data: { n } })
    await system.settle()
    await system.start('remind')
    await system.advance('12s')
    await system.crash()
    await system.advance('5m')
    expect(starts.map(({ at }) => at)).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000])
    const counts = ['thank', 'invoice', 'remind'].map((name) => starts.filter(({ who }) => who === name).length)
    expect(counts).toEqual([3, 3, 2])
    await system.close()
  })

  test('[H5] a key divides the budget, and a long-lived budget is loaded from its last checkpoint', async () => {
    const starts: number[] = []
    const held: { system?: TestSystem } = {}
    const system = await startTestSystem(
      {
        name: 'mailing',
        events: { 'order.placed': null },
        limits: { shared: { mail: { limit: 100, period: '1s' } } },
        functions: ['thank', 'invoice'].map((name) =>
          fn(name, { trigger: 'order.placed', throttle: { shared: 'mail', key: 'payload.to' } }, () => {
            starts.push((held.system?.clock.now() ?? START) - START)
            return null
          }),
        ),
      },
      store(),
    )
    held.system = system
    for (let n = 0; n < 100; n++) await system.send({ type: 'order.placed', data: { to: n % 2 } })
    await system.crash()
    await system.advance('5s')
    expect(starts).toHaveLength(200)
    // Two keys, a hundred starts each: one every ten milliseconds.
    expect(Math.max(...starts)).toBeGreaterThanOrEqual(990)
    await system.close()
  })
})
