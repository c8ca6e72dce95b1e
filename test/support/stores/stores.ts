/**
 * The three stores as a test opens them: memory, a SQLite file, a Postgres schema.
 *
 * Every acceptance test runs on each of them; a missing store is skipped with a message. In the project `restate` a Restate server wakes
 * the durable ones instead of their own dispatcher. TRIHAND_TEST_STORES=sqlite,postgres selects the stores.
 */
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { restate } from '#adapters/dispatch/restate/restate.ts'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import { openSqlite } from '#adapters/storage/sqlite/open.ts'
import { InProcessDispatcher } from '#adapters/system/dispatcher.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { type VerifyOptions, verifyLedger } from '#cli/verify/verify.ts'
import type { Store } from '#compose/assemble.ts'
import { idsWith, readKeyRing, withKeys } from '#compose/keys.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { fastFolder } from '#test/support/places.ts'
import { restateDoors } from '#test/support/serving/restate-setup.ts'
import type { TestStore } from '#testing/system.ts'
import { type FreshSchema, SchemaShelf } from './postgres-schema.ts'

/** The independent checker judges every ledger that a test leaves behind, by a clock far after the test's. */
const expectClean = async (target: Parameters<typeof verifyLedger>[0], options: VerifyOptions = {}): Promise<void> => {
  const { violations } = await verifyLedger(target, { ...options, now: Date.UTC(2099, 0, 1) })
  expect(violations).toEqual([])
}

const rest = { durable: true, pollMs: 1_000, sweepMs: null, commit: { maxBatch: 256, maxInFlight: 1 } } as const

export const memoryStore = (): TestStore => {
  const store = new MemoryStore()
  const blobs = new MemoryBlobs()
  const open = async (clock: Parameters<TestStore['open']>[0]): Promise<Store> => ({
    ...rest,
    ...openMemory(store, blobs),
    dispatcher: new InProcessDispatcher(clock),
    description: 'memory',
  })
  return { name: 'memory', open, ids: () => new SystemIds(), remove: async () => {} }
}

const sqliteStore = (): TestStore => {
  const folder = fastFolder('test')
  const file = join(folder.path, 'ledger.db')
  const open = async (clock: Parameters<TestStore['open']>[0]): Promise<Store> => {
    const { ledger, reader, blobs } = await openSqlite({ file })
    return { ...rest, ledger, reader, blobs, dispatcher: new InProcessDispatcher(clock), description: 'sqlite' }
  }
  return {
    name: 'sqlite',
    open,
    ids: () => new SystemIds(),
    remove: async () => {
      await expectClean({ file })
      folder.remove()
    },
  }
}

const LEDGER_KEY = 'the-ledger-key-of-every-acceptance-test'

/** A SQLite file with encrypted payloads, used only with TRIHAND_TEST_STORES=encrypted. */
const encryptedStore = (): TestStore => {
  const folder = fastFolder('test')
  const file = join(folder.path, 'ledger.db')
  const ring = readKeyRing({ ledgerKey: LEDGER_KEY }, {})
  const open = async (clock: Parameters<TestStore['open']>[0]): Promise<Store> => {
    const { ledger, reader, blobs } = await openSqlite({ file })
    const dispatcher = new InProcessDispatcher(clock)
    return withKeys({ ...rest, ledger, reader, blobs, dispatcher, description: 'encrypted' }, ring, idsWith(ring))
  }
  const remove = async (): Promise<void> => {
    await expectClean({ file }, { ledgerKey: LEDGER_KEY })
    folder.remove()
  }
  return { name: 'encrypted', open, ids: () => idsWith(ring), remove }
}

/** A process that crashed in the test may still hold connections: they are cut before the schema is reused. */
const postgresStore = (shelf: SchemaShelf): TestStore => {
  let taken: Promise<FreshSchema> | null = null
  const opened: { close(): Promise<void> }[] = []
  const open = async (clock: Parameters<TestStore['open']>[0]): Promise<Store> => {
    taken ??= shelf.take()
    const { url, schema } = await taken
    const { ledger, reader, blobs, close } = await openPostgres({ url, schema, clock: 'caller', max: 4 })
    opened.push({ close })
    return { ...rest, ledger, reader, blobs, dispatcher: new InProcessDispatcher(clock), description: 'postgres' }
  }
  const remove = async (): Promise<void> => {
    if (taken === null) return
    const place = await taken
    await Promise.allSettled(opened.map((database) => database.close()))
    await expectClean({ url: place.url, schema: place.schema })
    await shelf.giveBack(place)
  }
  return { name: 'postgres', open, ids: () => new SystemIds(), remove }
}

let systems = 0

/** A crashed process has no open handles: the next one closes them, like the operating system would. */
const onRestate = (place: TestStore): TestStore => {
  const name = `acceptance-${process.pid}-${systems++}`
  const opened: Dispatcher[] = []
  const closeAll = async (): Promise<void> => {
    for (const dispatcher of opened.splice(0)) await dispatcher.stop()
  }
  const open: TestStore['open'] = async (clock) => {
    await closeAll()
    const { dispatcher } = await restate({ ...restateDoors(), name })(clock)
    opened.push(dispatcher)
    return { ...(await place.open(clock)), dispatcher, keepsInstants: true }
  }
  const remove = async (): Promise<void> => {
    await closeAll()
    await place.remove()
  }
  return { ...place, open, remove }
}

const isChosen = (store: string): boolean =>
  (process.env['TRIHAND_TEST_STORES'] ?? 'memory,sqlite,postgres').split(',').includes(store)

/** Runs the same tests on every store. */
export const onEveryStore = (title: string, tests: (store: () => TestStore) => void): void => {
  const isOnRestate = process.env['TRIHAND_TEST_DISPATCHER'] === 'restate'
  const suffix = isOnRestate ? ' and restate' : ''
  const woken = (place: TestStore): TestStore => (isOnRestate ? onRestate(place) : place)
  const url = process.env['TRIHAND_TEST_PG_URL']
  if (isChosen('memory')) describe(`${title} on memory`, () => tests(memoryStore))
  if (isChosen('sqlite')) describe(`${title} on sqlite${suffix}`, () => tests(() => woken(sqliteStore())))
  if (isChosen('encrypted')) describe(`${title} on an encrypted file`, () => tests(encryptedStore))
  if (!isChosen('postgres')) return
  describe.skipIf(url === undefined)(`${title} on postgres${suffix}`, () => {
    const shelf = new SchemaShelf(url ?? '')
    afterAll(() => shelf.dropAll())
    tests(() => woken(postgresStore(shelf)))
  })
}
