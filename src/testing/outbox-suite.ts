/**
 * The conformance suite for every outbox, whatever database the user has.
 *
 * Owns the tests. An implementation provides an empty database with `create table item (id integer primary key, name text)`.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Outbox, OutboxWatch } from '#ports/outbox.ts'

export interface OutboxHarness {
  readonly outbox: Outbox
  /** Runs the user's own statements. */
  user(sql: string): Promise<void>
  close(): Promise<void>
}

const WATCH: OutboxWatch = { key: 'aaa1', table: 'item', on: ['insert', 'update', 'delete'] }
const OTHER: OutboxWatch = { key: 'bbb2', table: 'item', on: ['delete'] }

/** Defines the tests that every implementation of the port `Outbox` passes. */
export const outboxSuite = (name: string, open: () => Promise<OutboxHarness>): void => {
  let harness: OutboxHarness
  beforeEach(async () => {
    harness = await open()
  })
  afterEach(() => harness.close())

  const changes = async (watch: OutboxWatch = WATCH) =>
    (await harness.outbox.read(watch, 100)).map(({ change, row, before }) => ({ change, row, before }))

  describe(`${name} outbox`, () => {
    test('outbox-1: each change of a row adds one entry in the order of the changes, with the old and the new row', async () => {
      await harness.outbox.install(WATCH)
      await harness.user("insert into item values (1, 'a''b')")
      await harness.user("update item set name = 'c' where id = 1")
      await harness.user('delete from item')
      const first = { id: 1, name: "a'b" }
      const second = { id: 1, name: 'c' }
      expect(await changes()).toEqual([
        { change: 'insert', row: first, before: null },
        { change: 'update', row: second, before: first },
        { change: 'delete', row: second, before: null },
      ])
    })

    test('outbox-1: a change that is rolled back adds none', async () => {
      await harness.outbox.install(WATCH)
      await harness.user("begin; insert into item values (1, 'a'); rollback")
      expect(await changes()).toEqual([])
    })

    test('outbox-2: no id is reused after the outbox was removed and installed again', async () => {
      await harness.outbox.install(WATCH)
      await harness.user("insert into item values (1, 'a')")
      const [first] = await harness.outbox.read(WATCH, 1)
      await harness.outbox.remove(WATCH)
      await harness.outbox.install(WATCH)
      await harness.user("insert into item values (2, 'b')")
      const [second] = await harness.outbox.read(WATCH, 1)
      expect(second?.row).toEqual({ id: 2, name: 'b' })
      expect(second?.id).not.toBe(first?.id)
    })

    test('outbox-3: an entry stays until it is deleted, and only the named entries are', async () => {
      await harness.outbox.install(WATCH)
      await harness.user("insert into item values (1, 'a'), (2, 'b'), (3, 'c')")
      const [, second] = await harness.outbox.read(WATCH, 2)
      await harness.outbox.forget([second?.id ?? ''])
      expect((await changes()).map(({ row }) => row)).toEqual([
        { id: 1, name: 'a' },
        { id: 3, name: 'c' },
      ])
    })

    test('outbox-4: installing and removing twice is the same as once; removing one outbox does not affect another', async () => {
      expect(await harness.outbox.isInstalled(WATCH)).toBe(false)
      for (const watch of [WATCH, WATCH, OTHER]) await harness.outbox.install(watch)
      await harness.user("insert into item values (1, 'a')")
      expect([await harness.outbox.isInstalled(WATCH), (await changes()).length]).toEqual([true, 1])
      for (const watch of [WATCH, WATCH]) await harness.outbox.remove(watch)
      await harness.user('delete from item')
      expect(await harness.outbox.isInstalled(WATCH)).toBe(false)
      expect([(await changes()).length, (await changes(OTHER)).length]).toEqual([0, 1])
      await harness.outbox.remove(OTHER)
      await harness.user("insert into item values (2, 'b')")
    })

    test('a missing table is named', async () => {
      const nowhere = { ...WATCH, table: 'nowhere' }
      await expect(harness.outbox.install(nowhere)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        detail: expect.stringContaining('nowhere'),
      })
    })
  })
}
