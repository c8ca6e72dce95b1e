/** The outbox in a user's Postgres database. */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { openPostgresOutbox } from '#adapters/storage/postgres/outbox.ts'
import { outboxSuite } from '#testing/outbox-suite.ts'

const url = process.env['TRIHAND_TEST_PG_URL']
let schemas = 0

const open = async () => {
  const schema = `user_${process.pid}_${schemas++}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create schema ${schema}`)
  await client.query(`set search_path = ${schema}`)
  await client.query('create table item (id integer primary key, name text)')
  const outbox = await openPostgresOutbox(`${url}?options=-c%20search_path%3D${schema}`)
  const close = async (): Promise<void> => {
    await outbox.close()
    await client.query(`drop schema ${schema} cascade`)
    await client.end()
  }
  return { outbox, user: async (sql: string) => void (await client.query(sql)), close, schema }
}

describe.skipIf(url === undefined)('on postgres', () => {
  outboxSuite('postgres', open)

  test('outbox-3: a change that commits after a later one is still read', async () => {
    const { outbox, user, close, schema } = await open()
    const watch = { key: 'aaa1', table: `${schema}.item`, on: ['insert'] as const }
    await outbox.install(watch)
    const slow = new pg.Client({ connectionString: url })
    await slow.connect()
    await slow.query(`begin; insert into ${schema}.item values (1, 'first to begin')`)
    await user("insert into item values (2, 'first to commit')")
    const early = await outbox.read(watch, 10)
    await outbox.forget(early.map(({ id }) => id))
    await slow.query('commit')
    await slow.end()
    expect(early).toMatchObject([{ row: { id: 2 } }])
    expect(await outbox.read(watch, 10)).toMatchObject([{ row: { id: 1 } }])
    await close()
  })
})
