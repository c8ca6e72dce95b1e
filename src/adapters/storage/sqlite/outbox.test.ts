/** The outbox in a user's SQLite file. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fastFolder } from '#test/support/places.ts'
import { outboxSuite } from '#testing/outbox-suite.ts'
import { loadDriver } from './driver.ts'
import { openSqliteOutbox } from './outbox.ts'

const open = async (table = 'create table item (id integer primary key, name text)') => {
  const folder = fastFolder('outbox')
  const file = join(folder.path, 'user.db')
  const driver = await loadDriver()
  const db = new driver(file, { timeout: 5_000 })
  db.exec(table)
  const outbox = await openSqliteOutbox(file)
  const close = async (): Promise<void> => {
    await outbox.close()
    db.close()
    folder.remove()
  }
  return { outbox, user: async (sql: string) => db.exec(sql), close, file }
}

outboxSuite('sqlite', open)

test('a table with blobs and quotes in its names can be watched', async () => {
  const { outbox, user, close } = await open('create table item ("a""b" blob, "c\'d" real)')
  const watch = { key: 'aaa1', table: 'item', on: ['insert'] as const }
  await outbox.install(watch)
  await user("insert into item values (x'00ff', 1.5)")
  expect(await outbox.read(watch, 1)).toMatchObject([{ row: { 'a"b': '00ff', "c'd": 1.5 } }])
  await close()
})

test('a missing file is an error that names it, and no file is created', async () => {
  const { close, file } = await open()
  await close()
  rmSync(file, { force: true })
  await expect(openSqliteOutbox(file)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

test('a dropped table is a retryable error', async () => {
  const { outbox, user, close } = await open()
  await user('drop table item')
  await expect(outbox.read({ key: 'aaa1', table: 'item', on: ['insert'] }, 1)).rejects.toMatchObject({
    code: 'TABLE_UNREACHABLE',
    retryable: true,
  })
  await close()
})
