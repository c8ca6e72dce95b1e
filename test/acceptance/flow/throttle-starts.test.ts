/** A throttle counts when handlers begin, whatever happened between a run's turn and that moment. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

interface Start {
  readonly who: string
  readonly n: number
  readonly at: number
}

/** The largest number of starts in any period. */
const mostIn = (starts: readonly Start[], periodMs: number): number =>
  Math.max(0, ...starts.map(({ at: from }) => starts.filter(({ at }) => at >= from && at < from + periodMs).length))

onEveryStore('actual starts', (store) => {
  const begin = async (flows: Readonly<Record<string, FlowSource>>, limits = {}) => {
    const starts: Start[] = []
    const held: { system?: TestSystem } = {}
    const source = {
      name: 'mailing',
      events: { 'order.placed': null },
      ...limits,
      functions: Object.entries(flows).map(([name, flow]) =>
        fn<{ n: number }>(name, { trigger: 'order.placed', ...flow }, async ({ input, step }) => {
          if (!starts.some(({ who, n }) => who === name && n === input.n))
            starts.push({ who: name, n: input.n, at: held.system?.clock.now() ?? 0 })
          await step.run('note', () => null)
          return input.n
        }),
      ),
    }
    const system = await startTestSystem(source, store())
    held.system = system
    const send = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await system.send({ type: 'order.placed', data: { n: n + 1 } })
      await system.settle()
    }
    return { system, starts, send }
  }

  test('enter-4: [H5] a throttle limits actual starts after the process was down (14.4.1)', async () => {
    const { system, starts, send } = await begin({ mail: { throttle: { limit: 5, period: '1m' } } })
    await send(40)
    await system.crash(undefined, { down: '7m' })
    await system.settle()
    await system.advance('10m')
    expect(starts.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    expect(mostIn(starts, 60_000)).toBeLessThanOrEqual(5)
    await system.close()
  })

  test('[H5] a burst is used up once, and not again by the runs that waited (14.4.1)', async () => {
    const { system, starts, send } = await begin({ mail: { throttle: { limit: 10, period: '1m', burst: 4 } } })
    await send(30)
    expect(starts).toHaveLength(4)
    await system.crash(undefined, { down: '2m' })
    await system.advance('5m')
    await system.crash(undefined, { down: '1h' })
    await system.advance('5m')
    expect(starts).toHaveLength(30)
    expect(mostIn(starts, 60_000)).toBeLessThanOrEqual(13)
    await system.close()
  })

  test('[H5] handlers that share a budget keep it together after the process was down (14.4.1)', async () => {
    const throttle = { shared: 'mail' }
    const limits = { limits: { shared: { mail: { limit: 2, period: '10s' } } } }
    const { system, starts, send } = await begin({ thank: { throttle }, invoice: { throttle } }, limits)
    await send(8)
    await system.crash(undefined, { down: '1m' })
    await system.advance('5m')
    expect(starts).toHaveLength(16)
    expect(mostIn(starts, 10_000)).toBeLessThanOrEqual(2)
    await system.close()
  })

  test('[H5] runs that waited for a slot do not begin together when it is free (14.4.1)', async () => {
    const { system, starts, send } = await begin({ mail: { throttle: { limit: 1, period: '10s' }, concurrency: 1 } })
    await send(3)
    const [stopped] = starts
    expect(stopped?.n).toBe(1)
    await system.advance('1m')
    expect(starts).toHaveLength(3)
    expect(mostIn(starts, 10_000)).toBe(1)
    await system.close()
  })

  test('[H5] a throttled run has the status queued until it begins (14.4.1)', async () => {
    const { system, starts } = await begin({ mail: { throttle: { limit: 1, period: '10m' } } })
    await system.start('mail', { n: 1 })
    const second = await system.start('mail', { n: 2 })
    const third = await system.start('mail', { n: 3 })
    await system.crash(undefined, { down: '30m' })
    await system.settle()
    expect(starts.map(({ n }) => n)).toEqual([1, 2])
    expect((await system.look(second)).status).toBe('success')
    expect((await system.look(third)).status).toBe('queued')
    await system.advance('11m')
    expect(starts.map(({ n }) => n)).toEqual([1, 2, 3])
    await system.close()
  })
})
