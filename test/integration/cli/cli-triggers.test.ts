/** Starting functions by name and inspecting triggers, with the built command. */
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadDriver } from '#adapters/storage/sqlite/driver.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const SYSTEM = `import { defineSystem, fn } from 'trihand'

export const system = defineSystem({
  name: 'shop',
  events: { 'order.placed': null },
  webhooks: [
    { name: 'orders', auth: 'none', unsigned: true, emits: 'order.placed', transform: { total: '{{ body.sum * 2 }}' } },
  ],
  functions: [
    fn('ship', { trigger: { event: 'order.placed', filter: 'payload.total > 10' } }, ({ input }) => input),
    fn('bill', { trigger: { after: 'ship' } }, ({ input }) => input),
    fn('index', { trigger: { table: 'item', database: 'user.db', every: '50ms' } }, ({ input }) => input),
    fn('reload', { trigger: { signal: 'SIGHUP' } }, ({ input }) => input),
    fn('greet', {}, ({ input }) => ({ hello: input })),
  ],
})
`

beforeAll(buildCommand, 120_000)

let folder: Folder
beforeEach(async () => {
  folder = new Folder({ 'system.ts': SYSTEM })
  const user = new (await loadDriver())(join(folder.path, 'user.db'), { timeout: 5_000 })
  user.exec('create table item (id integer primary key)')
  user.close()
})
afterEach(() => folder.remove())

describe('starting by name', () => {
  test('[L10] a function is started by its name with an input, without any event', async () => {
    const run = await folder.json(['start', 'greet', '"ana"', '--wait', '10s'])
    expect(run).toMatchObject({ handler: 'greet', status: 'success', output: { hello: 'ana' } })
    const { items } = await folder.json(['events', 'list'])
    expect(items).toEqual([])
    const { code, stderr } = await folder.run(['start', 'nobody'])
    expect([code, stderr]).toEqual([3, expect.stringContaining('there is no function nobody')])
  })
})

describe('triggers', () => {
  test('are listed with their source and the handlers they start, also without a ledger', async () => {
    const { items } = await folder.json(['triggers', 'list'])
    const rows = items.map(({ kind, name, handler }: Record<string, string>) => [kind, name, handler])
    expect(rows).toEqual([
      ['event', 'order.placed', 'ship'],
      ['after', 'ship', 'bill'],
      ['table', 'table:user.db#item', 'index'],
      ['signal', 'signal:SIGHUP', 'reload'],
      ['webhook', 'orders', null],
    ])
  })

  test('[L1] are tested with an event or a delivery that is not sent', async () => {
    expect(await folder.json(['triggers', 'test', 'order.placed', '{"total":3}'])).toMatchObject({
      starts: [],
      suppressed: [{ trigger: 'ship', reason: 'filter' }],
    })
    expect(await folder.json(['triggers', 'test', 'orders', '{"sum":6}'])).toMatchObject({
      event: { type: 'order.placed', data: { total: 12 } },
      starts: ['ship'],
    })
    const { code } = await folder.run(['triggers', 'test', 'order.plcaed'])
    expect(code).toBe(4)
  })

  test('[L6][L4][L1] a server receives changes of its table, its signal and its webhook; without its outbox it does not start', async () => {
    const { code, stderr } = await folder.run(['dev', '.', '--port', '0'])
    expect([code, stderr]).toEqual([6, expect.stringContaining('TRIGGER_NOT_INSTALLED')])
    expect(await folder.json(['triggers', 'install'])).toEqual({ action: 'install', tables: ['table:user.db#item'] })
    const server = await folder.serve(['dev', '.', '--port', '0'])
    const user = new (await loadDriver())(join(folder.path, 'user.db'), { timeout: 5_000 })
    user.exec('insert into item values (7)')
    user.close()
    server.signal('SIGHUP')
    await fetch(`${server.url}/hooks/orders`, {
      method: 'POST',
      body: '{"sum":6}',
      headers: { 'content-type': 'application/json' },
    })
    const done = async (): Promise<readonly string[]> =>
      (await folder.json(['runs', 'list', '--status', 'success'])).items
        .map(({ handler }: { readonly handler: string }) => handler)
        .sort()
    await until(done, (handlers) => handlers.length === 4, { what: 'four runs are done', everyMs: 100 })
    expect(await done()).toEqual(['bill', 'index', 'reload', 'ship'])
    expect((await server.stop()).code).toBe(0)
    await folder.run(['triggers', 'remove'])
    const after = await folder.run(['dev', '.', '--port', '0'])
    expect(after.code).toBe(6)
  })
  test('[L6] source-1: a server that is killed again and again starts one run per row of the user’s table', async () => {
    await folder.json(['triggers', 'install'])
    const user = new (await loadDriver())(join(folder.path, 'user.db'), { timeout: 5_000 })
    let rows = 0
    const insert = (count: number): void => {
      for (let i = 0; i < count; i++) user.exec(`insert into item values (${++rows})`)
    }
    const delivered = async (): Promise<number> => {
      const { items } = await folder.json(['runs', 'list', '--handler', 'index', '--limit', '200'])
      return items.length
    }
    for (let life = 0; life < 3; life++) {
      insert(20)
      const server = await folder.serve(['dev', '.', '--port', '0'])
      insert(30)
      if (life < 2) await server.kill()
      insert(3)
    }
    await until(delivered, (count) => count >= rows, { what: 'every row is delivered', everyMs: 100 })
    expect(await delivered()).toBe(rows)
    const { items } = await folder.json(['events', 'list', '--type', 'trihand.table.changed', '--limit', '200'])
    const ids = items.map(({ data }: { readonly data: { readonly row: { readonly id: number } } }) => data.row.id)
    expect(new Set(ids).size).toBe(rows)
    user.close()
  })
})
