/** How a Postgres ledger is opened: the schema, the settings that make commits durable, and the errors of a database that is down. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MIGRATIONS } from '#adapters/storage/migrations/list.ts'
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { type Cluster, startPostgres } from '#test/support/stores/postgres.ts'
import { ask, freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { aCreation, anAppend, anEvent, aTask, newRun, newTask, newWorker } from '#testing/ledger/builders.ts'

const url = process.env['TRIHAND_TEST_PG_URL'] ?? ''

const withOptions = (base: string, options: string): string => {
  const changed = new URL(base)
  changed.searchParams.set('options', `${changed.searchParams.get('options') ?? ''} ${options}`)
  return changed.href.replaceAll('+', '%20')
}

describe.skipIf(url === '')('opening a Postgres ledger', () => {
  test('eight processes that migrate an empty schema at once all succeed, and the schema is created once', async () => {
    const schema = `test_migrators_${process.pid}`
    const opened = await Promise.all(Array.from({ length: 8 }, () => openPostgres({ url, schema, max: 1 })))
    const rows = await ask(url, `select version from ${schema}.trihand_migration order by version`)
    expect(rows.map((row) => row['version'])).toEqual(MIGRATIONS.map(({ version }) => version))
    for (const one of opened) await one.close()
    await ask(url, `drop schema ${schema} cascade`)
  })

  test('a role that may not change the schema can serve an up-to-date ledger', async () => {
    const fresh = await freshSchema(url)
    await (await openPostgres({ url: fresh.url, max: 1 })).close()
    const role = `${fresh.schema}_role`
    await ask(url, `create role ${role}`)
    await ask(
      url,
      `grant usage on schema ${fresh.schema} to ${role}; grant all on all tables in schema ${fresh.schema} to ${role};
      grant all on all sequences in schema ${fresh.schema} to ${role}`,
    )
    const asRole = withOptions(url, `-c role=${role}`)
    const { ledger } = await openPostgres({ url: asRole, schema: fresh.schema, max: 1 })
    expect(await ledger.append([anAppend({ events: [anEvent()] })])).toMatchObject([{ kind: 'written' }])
    await ledger.close()
    await fresh.drop()
    await ask(url, `drop role ${role}`)
  })

  test('an older ledger gets the latest indexes, and its rows are found through them', async () => {
    const fresh = await freshSchema(url)
    const open = () => openPostgres({ url: fresh.url, max: 1 })
    const [run, task] = [newRun(), newTask()]
    const older = await open()
    const writes = [aCreation(run), aCreation(task, { parent: run }, { status: 'waiting', task: aTask({ run }) })]
    await older.ledger.append([anAppend({ writes })])
    await older.close()
    await ask(
      fresh.url,
      `drop index fact_last_digits; drop index task_type; create index task_type on task (tenant, type, id) where is_open;
      delete from trihand_migration where version = 10`,
    )
    const { reader, close } = await open()
    expect(await reader.runsEndingWith(LOCAL_TENANT, run.slice(-8))).toEqual([run])
    expect(await reader.openTasks(LOCAL_TENANT, 0)).toMatchObject([{ isOverdue: false, count: 1 }])
    const [index] = await ask(fresh.url, "select pg_get_indexdef('task_type'::regclass) as text")
    expect(index).toMatchObject({ text: expect.stringContaining('INCLUDE (deadline)') })
    await close()
    await fresh.drop()
  })

  test('a ledger with a later breaking schema is refused, one with a later harmless schema is opened', async () => {
    const fresh = await freshSchema(url)
    const open = () => openPostgres({ url: fresh.url, max: 1 })
    await (await open()).close()
    await ask(fresh.url, "insert into trihand_migration values (1000, 'harmless', false, 0)")
    await (await open()).close()
    await ask(fresh.url, "insert into trihand_migration values (1001, 'breaking', true, 0)")
    await expect(open()).rejects.toMatchObject({ code: 'LEDGER_NEWER', detail: expect.stringContaining('1001') })
    await fresh.drop()
  })

  test.each([
    ['synchronous_commit=off', 'synchronous_commit is off'],
    ['synchronous_commit=local', 'synchronous_commit is local'],
    ['default_transaction_read_only=on', 'read-only'],
  ])('a connection with %s is refused', async (setting, reason) => {
    const opening = openPostgres({ url: withOptions(url, `-c ${setting}`), max: 1 })
    await expect(opening).rejects.toMatchObject({ code: 'LEDGER_NOT_DURABLE', detail: expect.stringContaining(reason) })
  })

  test.each([
    ['a url that is none', () => ({ url: 'somewhere' })],
    ['a schema with a name that needs quotes', () => ({ url, schema: 'a"; drop schema public; --' })],
    ['a database that does not exist', () => ({ url: Object.assign(new URL(url), { pathname: '/nowhere' }).href })],
  ])('%s is a configuration error', async (_, options) => {
    await expect(openPostgres(options())).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  test('[Q31] a number beyond the safe integers is refused, and other clients of the driver read numbers as before', async () => {
    const fresh = await freshSchema(url)
    const { ledger } = await openPostgres({ url: fresh.url, max: 1 })
    const run = newRun()
    await ledger.append([anAppend({ writes: [aCreation(run)] })])
    await ask(fresh.url, 'update stream set signal = 9007199254740991')
    expect(await ledger.load([run])).toMatchObject([{ signal: Number.MAX_SAFE_INTEGER }])
    await ask(fresh.url, 'update stream set signal = 9007199254740993')
    await expect(ledger.load([run])).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect(await ask(fresh.url, 'select signal from stream')).toEqual([{ signal: '9007199254740993' }])
    await ledger.close()
    await fresh.drop()
  })

  test("[R9] the clock of the database decides which runs are due, whatever the worker's clock says", async () => {
    const fresh = await freshSchema(url)
    const { ledger } = await openPostgres({ url: fresh.url, max: 1 })
    const [row] = await ask(url, 'select extract(epoch from now()) * 1000 as now')
    const now = Math.floor(Number(row?.['now']))
    const [due, early] = [newRun(), newRun()]
    for (const [run, wakeAt] of [[due, now - 1000] as const, [early, now + 60_000] as const])
      await ledger.append([anAppend({ writes: [aCreation(run, {}, { wakeAt })] })])
    const wrongClock = { worker: newWorker(), now: now + 3_600_000, limit: 9 }
    const { claims, nextDueAt } = await ledger.claim(wrongClock)
    expect(claims.map((claim) => claim.stream)).toEqual([due])
    expect(nextDueAt).toBe(now + 60_000)
    expect(await ledger.beat({ ...wrongClock, ttlMs: 60_000 })).toBe(0)
    await ledger.close()
    await fresh.drop()
  })
})

describe.skipIf(url === '')('a Postgres cluster of our own', () => {
  let cluster: Cluster | null = null
  beforeAll(async () => {
    cluster = await startPostgres().catch(() => null)
  })
  afterAll(() => cluster?.stop())

  test('[R1] while the database is down every call fails and says that nothing was done; afterwards all continues by itself', async (context) => {
    if (cluster === null) return context.skip('no server can be started here')
    const { ledger } = await openPostgres({ url: cluster.url, schema: 'down', max: 2 })
    const append = anAppend({ events: [anEvent()] })
    await cluster.crash()
    // An open connection may break only when it is used; the next one is refused before anything is sent.
    await ledger.append([append]).catch(() => null)
    await expect(ledger.append([append])).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'not_done' })
    await expect(ledger.load([newRun()])).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE', outcome: 'not_done' })
    await expect(openPostgres({ url: cluster.url })).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      outcome: 'not_done',
    })
    await cluster.start()
    const outcomes = await until(
      () => ledger.append([append]).catch(() => []),
      (answer) => answer.length === 1,
    )
    expect(outcomes).toMatchObject([{ kind: 'written' }])
    await ledger.close()
  })

  test('a server without fsync is refused', async (context) => {
    const careless = await startPostgres(['fsync=off']).catch(() => null)
    if (careless === null) return context.skip('no server can be started here')
    const refusal = { code: 'LEDGER_NOT_DURABLE', detail: expect.stringContaining('fsync is off') }
    await expect(openPostgres({ url: careless.url })).rejects.toMatchObject(refusal)
    await careless.stop()
  })
})
