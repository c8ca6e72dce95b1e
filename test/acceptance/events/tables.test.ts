/** A table in the user's own database as a trigger: exactly once, whatever happens in between. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, loadDriver } from '#adapters/storage/sqlite/driver.ts'
import { openOutbox } from '#compose/outboxes.ts'
import { fn } from '#executors/workflow/function.ts'
import type { TableSource } from '#manifest/define/sources.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { openDoors } from '#test/support/doors.ts'
import { fastFolder } from '#test/support/places.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'
import { watchOf } from '#triggers/table.ts'

let folder: ReturnType<typeof fastFolder>
let user: Database
beforeEach(async () => {
  folder = fastFolder('table')
  user = new (await loadDriver())(join(folder.path, 'user.db'), { timeout: 5_000 })
  user.exec('create table orders (id integer primary key, total real, note text)')
})
afterEach(() => {
  user.close()
  folder.remove()
})

const open = async (place: TestStore) => {
  const trigger = { table: 'orders', database: join(folder.path, 'user.db'), on: ['insert', 'update'] as const }
  const hear = fn('hear', { trigger: { ...trigger, filter: 'payload.row.total > 1' } }, ({ input }) => input)
  const system = await startTestSystem({ name: 'orders', functions: [hear] }, place)
  const [definition] = system.engine.definition.sources.values()
  const watch = watchOf(definition as TableSource, place.ids())
  const outbox = await openOutbox(trigger.database)
  let doors = openDoors(system, place)
  return {
    system,
    outbox,
    watch,
    start: () => system.run(() => doors.host.follow(system.engine.definition)),
    crash: async () => {
      const old = doors
      await system.crash()
      doors = openDoors(system, place)
      void old.host.stop()
    },
    rows: async () => {
      const query = { tenant: LOCAL_TENANT, type: 'trihand.table.changed', before: null, limit: 200 }
      const events = await system.store.reader.events(query)
      return events.map(({ data }) => data as { readonly change: string; readonly row: { readonly id: number } })
    },
    close: async () => {
      await system.run(() => doors.host.stop())
      await outbox.close()
      await system.close()
    },
  }
}

onEveryStore('tables', (store) => {
  test('[L6] a row that is inserted or updated starts a function if its filter is true, also a row from before the start', async () => {
    const shop = await open(store())
    await shop.outbox.install(shop.watch)
    user.exec("insert into orders values (1, 5.5, 'early')")
    await shop.start()
    await shop.system.advance('1s')
    user.exec(
      "insert into orders values (2, 0.5, 'small'); update orders set total = 9 where id = 2; delete from orders",
    )
    await shop.system.advance('2s')
    expect((await shop.rows()).map(({ change, row }) => [change, row.id])).toEqual([
      ['update', 2],
      ['insert', 2],
      ['insert', 1],
    ])
    expect((await shop.system.store.reader.counts(LOCAL_TENANT)).get('success')).toBe(2)
    await shop.close()
  })

  test('[L6] source-1: rows that were sent but not yet removed from the outbox when the process died are sent once', async () => {
    const shop = await open(store())
    await shop.outbox.install(shop.watch)
    for (let id = 1; id <= 150; id++) user.exec(`insert into orders values (${id}, 2, null)`)
    const kept = await shop.outbox.read(shop.watch, 100)
    await shop.start()
    await shop.system.advance('1s')
    expect(await shop.outbox.read(shop.watch, 1)).toEqual([])
    // As if the process had died before it removed them.
    const again = user.prepare(
      `insert into trihand_outbox (id, watch, change, row_json, before_json, at) values (?, ?, 'insert', ?, null, 0)`,
    )
    for (const { id, row } of kept) again.run(id, shop.watch.key, JSON.stringify(row))
    await shop.crash()
    await shop.start()
    await shop.system.advance('3s')
    expect(new Set((await shop.rows()).map(({ row }) => row.id)).size).toBe(150)
    expect(await shop.rows()).toHaveLength(150)
    expect(await shop.outbox.read(shop.watch, 1)).toEqual([])
    await shop.close()
  })

  test('[L6] source-2: a row too large for an event is recorded as refused, and the rows after it continue', async () => {
    const shop = await open(store())
    await shop.outbox.install(shop.watch)
    user.prepare('insert into orders values (1, 2, ?)').run('x'.repeat(300_000))
    user.exec('insert into orders values (2, 2, null)')
    await shop.start()
    await shop.system.advance('1s')
    expect((await shop.rows()).map(({ row }) => row.id)).toEqual([2])
    const query = { tenant: LOCAL_TENANT, type: 'trihand.trigger.refused', before: null, limit: 9 }
    expect(await shop.system.store.reader.events(query)).toMatchObject([{ data: { code: 'EVENT_TOO_LARGE' } }])
    await shop.close()
  })

  test('[L6] a table without triggers is refused at the start, with the command that installs them', async () => {
    const shop = await open(store())
    await expect(shop.start()).rejects.toMatchObject({
      code: 'TRIGGER_NOT_INSTALLED',
      hint: expect.stringContaining('trihand triggers install'),
    })
    await shop.close()
  })
})
