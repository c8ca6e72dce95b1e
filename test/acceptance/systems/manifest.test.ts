/** A manifest at work: the engine does what the YAML declares, on every store. */
import { expect, test } from 'vitest'
import type { SystemSource } from '#manifest/define/define.ts'
import { loadManifest } from '#manifest/yaml/load.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const SHOP = `
product: {name: shop}
events:
  - {name: order.placed, source: external, payload: {order_id: string!, total: number!}}
  - {name: order.large, payload: {order_id: string!, score: number!}}
  - {name: order.reminded, payload: {order_id: string!}}
  - {name: order.sorted}
functions:
  - name: judge
    trigger: {event: order.placed, filter: total > 3 and not (order_id == "test")}
    emits:
      - {event: order.large, when: output.score > 80}
      - {event: order.reminded, when: output.score <= 80, delay: 3d}
  - name: sort
    trigger: {event: order.large, route_on: payload.order_id, routes: {a: order.sorted}, default_route: order.reminded}
  - name: join
    trigger: {event: order.large, wait_for: [order.reminded], correlation_key: payload.order_id, timeout: 10d}
`

type Code = (context: { readonly input: Json }) => unknown

const sourceFrom = (text: string, code: Readonly<Record<string, Code>>): SystemSource => {
  const { manifest, findings } = loadManifest(text)
  if (manifest === null) throw new Error(JSON.stringify(findings))
  return sourceOf(manifest, { code: new Map(Object.entries(code)) })
}

const score = (input: Json): number => Number((input as { readonly total: number }).total)

const told = async (system: TestSystem): Promise<readonly (readonly [string, Json])[]> => {
  const events = await system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 100 })
  return events
    .filter(({ type }) => !type.startsWith('trihand.'))
    .map(({ type, data }) => [type, data] as const)
    .reverse()
}

onEveryStore('manifest', (store) => {
  const open = (): Promise<TestSystem> =>
    startTestSystem(
      sourceFrom(SHOP, { judge: ({ input }) => ({ score: score(input) }), join: ({ input }) => input }),
      store(),
    )

  test('[A2] [A6] a filter, a condition and a route of the manifest take effect', async () => {
    const system = await open()
    for (const [order_id, total] of [
      ['a', 90],
      ['test', 90],
      ['b', 2],
    ] as const)
      await system.send({ type: 'order.placed', data: { order_id, total } })
    await system.settle()
    expect((await told(system)).filter(([type]) => type !== 'order.placed')).toEqual([
      ['order.large', { order_id: 'a', score: 90 }],
      ['order.sorted', expect.objectContaining({ order_id: 'a' })],
    ])
    await system.close()
  })

  test('[A6] a delayed event is not visible before its time, also after a crash', async () => {
    const system = await open()
    await system.send({ type: 'order.placed', data: { order_id: 'c', total: 50 } })
    await system.advance('2d')
    expect(await told(system)).toHaveLength(1)
    await system.crash()
    await system.advance('2d')
    expect(await told(system)).toEqual([
      ['order.placed', { order_id: 'c', total: 50 }],
      ['order.reminded', { order_id: 'c' }],
    ])
    await system.close()
  })

  test('[A4] data that does not fit the payload is refused, and starts nothing', async () => {
    const system = await open()
    await expect(system.send({ type: 'order.placed', data: { order_id: 'a' } })).rejects.toMatchObject({
      code: 'EVENT_INVALID',
      detail: expect.stringContaining("must have required property 'total'"),
    })
    expect(await told(system)).toEqual([])
    await system.close()
  })
})
