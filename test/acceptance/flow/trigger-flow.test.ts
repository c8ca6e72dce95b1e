/** Flow control on single triggers: it overrides the handler's, and is counted separately. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('trigger flow', (store) => {
  const begin = async (options: Parameters<typeof fn>[1]) => {
    const seen: Json[] = []
    const events = { 'order.placed': null, 'order.changed': null }
    const hear = fn('hear', options, ({ input }) => {
      seen.push(input as Json)
      return null
    })
    const system = await startTestSystem({ name: 'flows', events, functions: [hear] }, store())
    const send = async (type: string, ...ns: readonly number[]): Promise<void> => {
      for (const n of ns) await system.send({ type, data: n })
      await system.settle()
    }
    return { system, seen, send }
  }

  test('[H4][H6] one trigger debounces, the other uses the rate limit of the function, both across a crash', async () => {
    const { system, seen, send } = await begin({
      rateLimit: { limit: 1, period: '1m' },
      triggers: [
        'order.placed',
        { event: 'order.changed', debounce: { period: '10s' }, rateLimit: { limit: 100, period: '1m' } },
      ],
    })
    await send('order.placed', 1, 2)
    await send('order.changed', 3, 4)
    expect(seen).toEqual([1])
    await system.crash()
    await send('order.placed', 5)
    await system.advance('11s')
    expect(seen).toEqual([1, 4])
    await system.advance('1m')
    await send('order.placed', 6)
    expect(seen).toEqual([1, 4, 6])
    await system.close()
  })

  test('[J3] a batch on one trigger of a function that has no flow control itself', async () => {
    const { system, seen, send } = await begin({
      triggers: ['order.placed', { event: 'order.changed', batch: { maxSize: 2, maxWait: '1m' } }],
    })
    await send('order.changed', 1)
    await send('order.placed', 2)
    await system.crash()
    await send('order.changed', 3)
    expect(seen).toEqual([2, [1, 3]])
    await system.close()
  })

  test('[L11] of two triggers on one event the first whose filter is true applies', async () => {
    const { system, seen, send } = await begin({
      triggers: [
        { event: 'order.placed', filter: 'payload > 100', idempotency: { key: '"large"' } },
        { event: 'order.placed', idempotency: { key: 'payload' } },
      ],
    })
    await send('order.placed', 1, 1, 2, 101, 102)
    expect(seen).toEqual([1, 2, 101])
    await system.close()
  })
})
