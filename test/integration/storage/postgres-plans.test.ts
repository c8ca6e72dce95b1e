/**
 * The statements of the Postgres ledger are planned once per connection, perhaps on empty tables. This test makes all plans on tables of a
 * few rows, lets the tables grow, and counts the rows that the server then reads: a scanning plan reads tens of thousands.
 * Autovacuum analyses grown tables at any time, and all plans are made again: that is the second case. Plans are also made again when
 * others in the cluster change many tables, so this test has its own cluster.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import { LOCAL_TENANT, type RunId, type WorkerId } from '#model/kernel/ids.ts'
import type { Taker } from '#model/worker/pin.ts'
import type { Ledger, Outcome } from '#ports/ledger.ts'
import type { Reader, TaskQuery } from '#ports/reader.ts'
import { type Cluster, startPostgres } from '#test/support/stores/postgres.ts'
import { ask, freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import {
  aCreation,
  anAppend,
  anEvent,
  aTask,
  aWait,
  aWrite,
  newRun,
  newTask,
  newWorker,
  START,
} from '#testing/ledger/builders.ts'

const GROWN = 20_000

/** The version of the runs that are claimed here: claims name one, like every worker's. */
const VERSION = 'system-1'
const TAKER: Taker = {
  version: VERSION,
  takesOver: ['scan', 'h1'].map((handler) => ({ handler, afterMs: 600_000, isFree: false })),
}

/** Due runs, all of one lane whose slot is taken. */
const QUEUED = `insert into stream (id, kind, tenant, handler, system_hash, base, version, epoch, signal, head_hash, status, wake_at, lease,
    recoveries, created_at, lane)
  select gen_random_uuid(), 0, 'local', 'busy', '${VERSION}', 0, 1, 0, 0, 'queued', 'queued', case when i > 1 then ${START} - i end,
    case when i = 1 then 'bulk-1' end, 0, ${START}, '["busy",0,["printer",1,1]]' from generate_series(1, ${GROWN}) i;`

/** Tasks in the inboxes of a hundred people and of one group. */
const ASKED = `
  insert into task select gen_random_uuid(), 'local', gen_random_uuid(), 's', 'pending', true, 'approval', 't', '["group:crowd"]', null, 0, ${START} + i,
    ${START}, ${START}, '{}', '{}' from generate_series(1, ${GROWN}) i;
  insert into task_address select id, address, 'local', 'pending', deadline from task,
    lateral (values ('*'), ('group:crowd'), ('user:u' || deadline % 100)) v(address) where is_open;`

/** Parked runs of this version and of fifty others, their facts, the events that started them, and waits of other types. */
const GROW = `
  insert into stream select gen_random_uuid(), 0, 'local', 'h' || i, case when i % 2 = 0 then '${VERSION}' else 'other-' || i % 100 end, null, null, null, 0, 1, 0, 0, 'hash', 'waiting', ${START} + 1000000 + i,
    null, 0, ${START} from generate_series(1, ${GROWN}) i;
  insert into fact select id, 0, 'bulk', 0, 'f', ${START}, '{}', 'hash' from stream where head_hash = 'hash';
  insert into event (tenant, source, id, type, time, hops, chain, data, data_hash, append_id)
    select 'local', 'bulk', 'bulk-' || i, 'bulk', ${START}, 0, '[]', '{}', 'hash', 'bulk' from generate_series(1, ${GROWN}) i;
  insert into wait select id, 'a', 'bulk', 'order', id::text from stream where head_hash = 'hash';
  insert into event_value select 'local', md5(seq::text)::uuid, seq from event where type = 'bulk';
  update value_path set since = 0 where type = 'bulk';
  insert into worker select 'bulk-' || i, ${START} + 1000000 from generate_series(1, 200) i;`

const TUPLES_READ = `select coalesce(sum(seq_tup_read), 0)::int + (select coalesce(sum(idx_tup_read), 0)::int from pg_stat_user_indexes
  where schemaname = current_schema()) as read from pg_stat_user_tables where schemaname = current_schema()`

const TABLES = 'stream, fact, event, wait, wait_path, event_value, value_path, worker, document, task, task_address'
const OTHERS = `select pid from pg_stat_activity where application_name = current_setting('application_name') and pid <> pg_backend_pid()`

describe.skipIf(process.env['TRIHAND_TEST_PG_URL'] === undefined)('plans of the Postgres ledger', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())

  /** Every statement about lanes, and about claims of some handlers. */
  const useLanes = async (ledger: Ledger, worker: WorkerId): Promise<void> => {
    const slots = [{ key: 'scanner', limit: 1, weight: 1 }]
    const [first, second, plain] = [newRun(), newRun(), newRun()]
    await ledger.append([
      ...[first, second].map((run) => anAppend({ writes: [aCreation(run, { handler: 'scan', slots })] })),
      anAppend({ writes: [aCreation(plain, { handler: 'scan' })] }),
    ])
    const claim = { worker, now: START, limit: 10, taker: TAKER }
    expect((await ledger.claim({ ...claim, only: [second] })).claims).toMatchObject([{ stream: second }])
    expect((await ledger.claim({ ...claim, handlers: ['scan'] })).claims).toMatchObject([{ stream: plain }])
    const ending = aWrite(second, { release: true, status: 'success' })
    const outcomes = await ledger.append([anAppend({ writes: [ending] })])
    expect(outcomes).toMatchObject([{ kind: 'written', signalled: [first] }])
    expect((await ledger.claim(claim)).claims.map(({ stream }) => stream)).toContain(first)
    expect((await ledger.claim({ ...claim, handlers: ['scan', 'nobody'] })).claims).toEqual([])
  }

  /** A task that is opened, changed and closed, with an event and without; and pages of its inboxes in every order. */
  const useTasks = async (ledger: Ledger, reader: Reader): Promise<void> => {
    const [id, row] = [newTask(), aTask({ addresses: ['user:ana', 'group:crowd'] })]
    const rest = { status: 'waiting', wakeAt: null, epoch: null } as const
    await ledger.append([anAppend({ writes: [aCreation(id, { parent: row.run }, { ...rest, task: row })] })])
    const changed = { ...row, addresses: ['user:bo', 'group:crowd'], status: 'in_review' }
    await ledger.append([
      anAppend({ writes: [aWrite(id, { ...rest, task: changed })], events: [anEvent({ type: 'seen' })] }),
    ])
    const query = {
      tenant: LOCAL_TENANT,
      isOpen: true,
      viewer: null,
      status: null,
      type: null,
      claimedBy: null,
    } as const
    for (const order of ['newest', 'oldest', 'deadline'] as const)
      for (const addresses of [null, ['user:bo', 'group:crowd']])
        for (const after of [null, id]) await reader.tasks({ ...query, addresses, run: null, order, after, limit: 10 })
    await reader.tasks({ ...query, addresses: null, run: row.run, order: 'newest', after: null, limit: 10 })
    await useRareTasks(reader, { ...query, addresses: null, run: null, after: null, limit: 10 })
    for (const addresses of [null, ['group:crowd'], ['user:bo', 'group:crowd', 'user:u1']])
      await reader.taskCounts(LOCAL_TENANT, addresses, 10)
    const closed = { ...changed, isOpen: false, status: 'approved' }
    await ledger.append([
      anAppend({ writes: [aWrite(id, { ...rest, expectedVersion: 2, status: 'success', task: closed })] }),
    ])
    await reader.tasks({ ...query, isOpen: false, addresses: null, run: null, order: 'newest', after: null, limit: 10 })
    expect(await reader.task(LOCAL_TENANT, id)).toMatchObject({ isOpen: false })
  }

  /** Filters that match hardly any task, or none. */
  const useRareTasks = async (reader: Reader, query: Omit<TaskQuery, 'order'>): Promise<void> => {
    for (const order of ['newest', 'oldest'] as const) {
      await reader.tasks({ ...query, order, status: 'in_review' })
      await reader.tasks({ ...query, order, type: 'input' })
      await reader.tasks({ ...query, order, claimedBy: 'ana' })
    }
    await reader.tasks({ ...query, order: 'deadline', claimedBy: 'ana' })
    const late = { trait: 'overdue', now: START } as const
    await reader.tasks({ ...query, order: 'deadline', only: late, addresses: ['user:bo', 'group:crowd'] })
    for (const addresses of [null, ['user:bo', 'group:crowd']])
      await reader.inboxGlance({ tenant: LOCAL_TENANT, addresses, now: START, most: 10 })
  }

  /** Pages of runs by a rare or unused status and handler; and their counts. */
  const useRuns = async (reader: Reader): Promise<void> => {
    const before = newRun()
    for (const status of [null, 'failed', 'running', 'success'] as const)
      for (const handler of [null, 'scan', 'nobody'])
        for (const cursor of [null, before])
          await reader.runs({ tenant: LOCAL_TENANT, status, handler, before: cursor, limit: 10 })
    await reader.newestCounts(LOCAL_TENANT, 10)
    for (const digits of [6, 8, 31]) await reader.runsEndingWith(LOCAL_TENANT, before.slice(-digits))
  }

  /** Waits for a value of a type that gets very many events, and searches events by value. */
  const useValues = async (ledger: Ledger, worker: WorkerId): Promise<void> => {
    const seek = (value: string, newest: boolean) => {
      const matching = [{ type: 'bulk', path: 'order', value, after: 0 }]
      return ledger.events({ tenant: LOCAL_TENANT, matching, newest, limit: 5 })
    }
    const value = `"${newRun()}"`
    for (const newest of [false, true]) expect(await seek(value, newest)).toEqual([])
    const run = newRun()
    await ledger.append([anAppend({ writes: [aCreation(run, { lease: worker }, { wakeAt: null })] })])
    const wait = aWait({ type: 'bulk', path: 'order', value, base: 0, seen: 0 })
    await ledger.append([anAppend({ writes: [aWrite(run, { release: true, opensWaits: [wait], wakeAt: null })] })])
    const event = anEvent({ type: 'bulk', data: { order: JSON.parse(value) } })
    expect(await ledger.append([anAppend({ events: [event] })])).toMatchObject([{ kind: 'written', signalled: [run] }])
    expect(await seek(value, false)).toHaveLength(1)
    await ledger.events({ tenant: LOCAL_TENANT, types: ['bulk'], newest: true, limit: 5 })
  }

  /** Every statement once, with a handful of rows each. */
  const useAll = async (ledger: Ledger, reader: Reader): Promise<void> => {
    const worker = newWorker()
    const written = (outcomes: readonly Outcome[]): void =>
      expect(outcomes.map(({ kind }) => kind)).not.toContain('conflict')
    await ledger.beat({ worker, now: START, ttlMs: 60_000 })
    const [a, b]: [RunId, RunId] = [newRun(), newRun()]
    const held = (run: RunId) => anAppend({ writes: [aCreation(run, { lease: worker }, { wakeAt: null })] })
    written(await ledger.append([held(a), held(b)]))
    const step = anAppend({ writes: [aWrite(a)] })
    written(await ledger.append([step]))
    expect(await ledger.append([step, anAppend({ writes: [aWrite(b, { epoch: 9 })] })])).toMatchObject([
      { kind: 'already_written' },
      { kind: 'conflict' },
    ])
    written(
      await ledger.append([
        anAppend({ writes: [aWrite(a, { expectedVersion: 2, release: true, opensWaits: [aWait({ base: 1e9 })] })] }),
      ]),
    )
    written(await ledger.append([anAppend({ events: [anEvent()], writes: [aCreation(newRun(), { event: 0 })] })]))
    const lonely = anEvent({ type: 'lonely' })
    written(await ledger.append([anAppend({ events: [lonely], writes: [aCreation(newRun(), { event: 0 })] })]))
    const ending = aWrite(b, { closesWaits: ['payment'], status: 'success', release: true })
    const document = { tenant: LOCAL_TENANT, table: 't', key: 'k', value: 1 }
    written(await ledger.append([anAppend({ writes: [ending], signals: [a], documents: [document] })]))
    const { claims } = await ledger.claim({ worker, now: START, limit: 10, taker: TAKER })
    expect(claims.length).toBeGreaterThanOrEqual(2)
    const claimed = claims.find(({ stream }) => stream === a)
    const whole = aWrite(a, {
      expectedVersion: 3,
      epoch: claimed?.epoch ?? 0,
      opensWaits: [aWait({ base: 1e9, type: 'x' })],
      closesWaits: ['payment'],
    })
    written(
      await ledger.append([
        anAppend({
          writes: [whole],
          events: [anEvent({ type: 'x' })],
          signals: [b],
          documents: [{ ...document, value: null }],
        }),
      ]),
    )
    await ledger.claim({ worker, now: START, limit: 10, only: [a, b], taker: TAKER })
    await useValues(ledger, worker)
    await useLanes(ledger, worker)
    await useTasks(ledger, reader)
    await useRuns(reader)
    await ledger.load([a, b])
    for (const last of [1, 5]) await ledger.load([a, b], { last })
    await ledger.events({ tenant: LOCAL_TENANT, types: ['x', 'order.paid'], after: 0, limit: 5 })
    await ledger.events({ tenant: LOCAL_TENANT, sequences: [1, 2], limit: 5 })
    await ledger.beat({ worker: newWorker(), now: START + 60_001, ttlMs: 60_000 })
    await ledger.retire(worker, START)
  }

  test.each([
    ['as they were made', null],
    ['made again after the server has looked at what is in them', `analyze ${TABLES}`],
  ])('plans on tables that have grown read no more than they need: %s (13.2.4)', async (_, look) => {
    const fresh = await freshSchema(cluster.url)
    // One connection, so that the plans of the first round are those of the second.
    const { ledger, reader } = await openPostgres({ url: fresh.url, clock: 'caller', max: 1, notify: false })
    await useAll(ledger, reader)
    // Disables autovacuum, which would run at any moment.
    for (const table of TABLES.split(', '))
      await ask(fresh.url, `alter table ${table} set (autovacuum_enabled = false)`)
    await ask(fresh.url, `truncate ${TABLES}`)
    await ledger.append([
      anAppend({ writes: [aCreation(newRun(), {}, { wakeAt: null })], events: [anEvent({ type: 'first' })] }),
    ])
    // Now the statistics say that the tables are nearly empty, which makes a scan look cheap.
    await ask(fresh.url, `vacuum (analyze) ${TABLES}`)
    await useAll(ledger, reader)
    const own = (await ask(fresh.url, OTHERS)).map(({ pid }) => pid)
    await ask(fresh.url, GROW)
    await ask(fresh.url, QUEUED)
    await ask(fresh.url, ASKED)
    if (look !== null) await ask(fresh.url, look)
    // The server reports what a connection has read when it ends: first the connections that filled the tables, then the ledger's own.
    const untilOnly = (pids: readonly unknown[]) =>
      until(
        () => ask(fresh.url, OTHERS),
        (rows) => rows.every(({ pid }) => pids.includes(pid)),
      )
    await untilOnly(own)
    const before = Number((await ask(fresh.url, TUPLES_READ))[0]?.['read'])
    await useAll(ledger, reader)
    await ledger.close()
    await untilOnly([])
    const after = Number((await ask(fresh.url, TUPLES_READ))[0]?.['read'])
    expect(after - before).toBeLessThan(GROWN / 4)
    await fresh.drop()
  })
})
