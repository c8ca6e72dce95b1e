/** The manifest's `tenancy`: an event names its own tenant in its data, and no data can name another tenant. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

onEveryStore('tenancy', (store) => {
  test("an event's tenant is its sender's: filled in if it is absent, refused if it is another's", async () => {
    const seen: unknown[] = []
    const place = fn('place', { trigger: 'order.placed' }, ({ input }) => {
      seen.push(input)
    })
    const source = { name: 'orders', open: true, tenancy: { identifier: 'tenant_id' }, functions: [place] }
    const system = await startTestSystem(source, store())
    const acme = system.engine.of('acme' as TenantId)
    const send = (data: object) => system.run(() => acme.send({ type: 'order.placed', data }))
    await send({ n: 1 })
    await send({ n: 2, tenant_id: 'acme' })
    await expect(send({ n: 3, tenant_id: 'bolt' })).rejects.toMatchObject({ code: 'TENANT_MISMATCH' })
    // With a single tenant there is nothing to tell apart.
    await system.send({ type: 'order.placed', data: { n: 4, tenant_id: 'bolt' } })
    await system.settle()
    expect(seen).toEqual([
      { n: 1, tenant_id: 'acme' },
      { n: 2, tenant_id: 'acme' },
      { n: 4, tenant_id: 'bolt' },
    ])
    await system.close()
  })
})
