/** Events of several types that belong together: in any order, at any moment, they start one run. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn, type Handler } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

const FAN_IN = {
  primary: 'order.placed',
  waitFor: ['order.paid', 'order.packed'],
  correlationKey: 'payload.id',
  timeout: '1h',
}

onEveryStore('fan-in', (store) => {
  const begin = async (
    options: Partial<FunctionOptions<Json>> = {},
    code: Handler | null = null,
    others: readonly ReturnType<typeof fn>[] = [],
  ) => {
    const system = await startTestSystem(
      { name: 'fan-in', functions: [fn('ship', { fanIn: FAN_IN, ...options }, code), ...others] },
      store(),
    )
    const send = async (...members: readonly (readonly [string, number, number?])[]): Promise<void> => {
      for (const [type, id, n = 0] of members) await system.send({ type: `order.${type}`, data: { id, n } })
      await system.settle()
    }
    const runs = async () => {
      const query = { tenant: LOCAL_TENANT, status: null, handler: 'ship', before: null, limit: 50 }
      const found = await system.store.reader.runs(query)
      return Promise.all([...found].reverse().map(({ id }) => system.look(id)))
    }
    return { system, send, runs }
  }

  test('[A8] fan-in-1: members of one key come together in any order, also across a crash, and start one run', async () => {
    const { system, send, runs } = await begin()
    await send(['paid', 1], ['placed', 2], ['placed', 1])
    await system.crash()
    expect(await runs()).toEqual([])
    await send(['packed', 1])
    expect(await runs()).toMatchObject([
      {
        status: 'success',
        output: {
          events: { 'order.placed': { id: 1 }, 'order.paid': { id: 1 }, 'order.packed': { id: 1 } },
          timed_out: false,
          missing: [],
        },
      },
    ])
    await system.close()
  })

  test('[A8] fan-in-2: the next member after a complete group opens a new one, however close it follows', async () => {
    const { system, send, runs } = await begin()
    await send(['placed', 1, 1], ['paid', 1, 1], ['packed', 1, 1], ['placed', 1, 2], ['paid', 1, 2], ['packed', 1, 2])
    const outputs = (await runs()).map(({ output }) => (output as { events: Record<string, { n: number }> }).events)
    expect(outputs.map((events) => Object.values(events).map(({ n }) => n))).toEqual([
      [1, 1, 1],
      [2, 2, 2],
    ])
    await system.close()
  })

  test('[A8] at its timeout a group fails with the missing members, or sends the event declared for that', async () => {
    const plain = await begin()
    await plain.send(['placed', 1], ['paid', 1])
    await plain.system.advance('59m')
    expect(await plain.runs()).toEqual([])
    await plain.system.advance('2m')
    expect(await plain.runs()).toMatchObject([
      { status: 'failed', error: { code: 'FAN_IN_TIMEOUT', message: 'missing: order.packed' } },
    ])
    await plain.system.close()
    const told: unknown[] = []
    const hear = fn('hear', { trigger: 'order.late' }, ({ input }) => void told.push(input))
    const emits = [
      { event: 'order.late', on: 'timeout' as const, data: { missing: '{{ output.missing }}' } },
      { event: 'order.ready' },
    ]
    const declared = await begin({ emits }, null, [hear])
    await declared.send(['placed', 1])
    await declared.system.advance('2h')
    expect(await declared.runs()).toMatchObject([{ status: 'success', output: { timed_out: true } }])
    expect(told).toEqual([{ missing: ['order.paid', 'order.packed'] }])
    await declared.system.close()
  })

  test('[A8] fan-in-1: without its primary member a group starts nothing, and records the reason', async () => {
    const { system, send, runs } = await begin()
    await send(['paid', 1], ['packed', 1])
    await system.advance('2h')
    expect(await runs()).toEqual([])
    await send(['placed', 1])
    await system.advance('2h')
    expect(await runs()).toMatchObject([{ error: { message: 'missing: order.paid, order.packed' } }])
    await system.close()
  })

  test('[A8] of several events of one type the first, the last or all count; code receives them by name', async () => {
    const counted = { first: 1, last: 2, all: [1, 2] }
    for (const collect of ['first', 'last', 'all'] as const) {
      const { system, send, runs } = await begin({ fanIn: { ...FAN_IN, collect } }, ({ input }) => {
        const { events } = input as unknown as { events: Record<string, Json> }
        const paid = events['order.paid']
        return Array.isArray(paid) ? paid.map(({ n }) => n) : (paid as { n: number }).n
      })
      await send(['paid', 1, 1], ['paid', 1, 2], ['placed', 1], ['packed', 1])
      expect((await runs()).map(({ output }) => output)).toEqual([counted[collect]])
      await system.close()
    }
  })

  test('[A8] an event without the key is refused with the reason; the others continue', async () => {
    const { system, send, runs } = await begin()
    await system.send({ type: 'order.paid', data: {} })
    await send(['placed', 1], ['paid', 1], ['packed', 1])
    expect(await runs()).toHaveLength(1)
    await system.close()
  })
})
