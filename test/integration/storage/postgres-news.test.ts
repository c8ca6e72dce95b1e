/**
 * The change feed of a ledger with several writing processes: its order across processes, restarts and crashes.
 *
 * Uses its own cluster: the feed waits for every older transaction of its cluster, including those of other test files.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OpenedPostgres, openPostgres } from '#adapters/storage/postgres/open.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT, type RunId, type StreamId, type TenantId } from '#model/kernel/ids.ts'
import type { ChangePosition } from '#ports/change-feed.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { readSse, type SseMessage } from '#test/support/sse.ts'
import { type Cluster, startPostgres } from '#test/support/stores/postgres.ts'
import { ask, type FreshSchema, freshSchema } from '#test/support/stores/postgres-schema.ts'
import { RowHolder } from '#test/support/stores/row-holder.ts'
import { until } from '#test/support/until.ts'
import { aCreation, anAppend, anEvent, aWrite, newRun, newWorker, START } from '#testing/ledger/builders.ts'

const SYSTEM: SystemSource = { name: 'shop', events: { go: null }, functions: [fn('work', { trigger: 'go' }, () => 1)] }

describe.skipIf(process.env['TRIHAND_TEST_PG_URL'] === undefined)('the change feed of a Postgres ledger', () => {
  let cluster: Cluster
  let place: FreshSchema
  let closing: (() => Promise<unknown>)[]

  beforeAll(async () => {
    cluster = await startPostgres(['autovacuum=off'])
  })
  afterAll(() => cluster.stop())
  beforeEach(async () => {
    place = await freshSchema(cluster.url)
    closing = []
  })
  afterEach(async () => {
    for (const close of closing.reverse()) await close()
    await place.drop()
  })

  const opened = async (): Promise<OpenedPostgres> => {
    const store = await openPostgres({ url: place.url, clock: 'caller', max: 4, notify: false })
    closing.push(() => store.close())
    return store
  }
  const app = async (options: { readonly work: boolean }): Promise<HttpApp> => {
    const one = await openApp(SYSTEM, undefined, { database: place.url, ...options })
    closing.push(() => one.close())
    return one
  }
  const birth = (run: RunId, tenant: TenantId = LOCAL_TENANT) => anAppend({ writes: [aCreation(run, { tenant })] })
  const streamsSince = async ({ changeFeed }: OpenedPostgres, position: ChangePosition) =>
    (await changeFeed.since(LOCAL_TENANT, position))?.items.map(({ stream }) => stream) ?? null

  test('if the younger of two transactions commits first, it waits, and both are reported in order', async () => {
    const [here, there] = [await opened(), await opened()]
    const [first, held] = [newRun(), newRun()].sort() as [RunId, RunId]
    await here.ledger.append([birth(first), birth(held)])
    const begun = await here.changeFeed.begin()
    const holder = await RowHolder.lock(place.url, held)
    closing.push(() => holder.release())
    // Rows are locked in the order of ids: the first row gives the transaction its number, at the second it waits.
    const rest = { epoch: null, wakeAt: null } as const
    const older = here.ledger.append([anAppend({ writes: [aWrite(first, rest), aWrite(held, rest)] })])
    const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and backend_xid is not null`
    await until(
      () => ask(place.url, waiting),
      (rows) => rows.length > 0,
      { what: 'the older one waits', timeoutMs: 40_000 },
    )
    const younger = newRun()
    await there.ledger.append([birth(younger)])
    expect(await streamsSince(here, begun)).toEqual([])
    await holder.release()
    expect(await older).toMatchObject([{ kind: 'written' }])
    expect(await streamsSince(here, begun)).toEqual([first, held, younger])
  })

  test('reading can resume after each item, also in the middle of a transaction', async () => {
    const { ledger, changeFeed } = await opened()
    const begun = await changeFeed.begin()
    const runs = [newRun(), newRun(), newRun()]
    await ledger.append([anAppend({ writes: runs.map((run) => aCreation(run)), events: [anEvent()] })])
    await ledger.append([birth(newRun())])
    const all = (await changeFeed.since(LOCAL_TENANT, begun))?.items ?? []
    expect(all).toHaveLength(5)
    expect(all[0]?.stream).toBe(null)
    for (const [i, { next }] of all.entries())
      expect((await changeFeed.since(LOCAL_TENANT, next))?.items).toEqual(all.slice(i + 1))
  })

  test('a lost append is not reported, and a change of another tenant is reported only to that tenant', async () => {
    const store = await opened()
    const begun = await store.changeFeed.begin()
    const [own, foreign] = [newRun(), newRun()]
    await store.ledger.append([birth(own), birth(foreign, 'acme' as TenantId)])
    const stale = anAppend({ writes: [aWrite(own, { expectedVersion: 7, epoch: null })] })
    expect(await store.ledger.append([stale])).toMatchObject([{ kind: 'conflict' }])
    expect(await streamsSince(store, begun)).toEqual([own])
    expect((await store.changeFeed.since('acme' as TenantId, begun))?.items).toMatchObject([{ stream: foreign }])
  })

  test('a reader too far behind gets a reset, and a heartbeat deletes old entries', async () => {
    const { ledger, changeFeed } = await opened()
    const begun = await changeFeed.begin()
    const fill = (rows: number): string =>
      `do $$ begin for i in 1..${rows} loop insert into news (streams, tenants) values ('{}', '{local}'); commit; end loop; end $$`
    await ask(place.url, fill(1_000))
    expect((await changeFeed.since(LOCAL_TENANT, begun))?.items).toHaveLength(1_000)
    await ask(place.url, fill(1_500))
    expect(await changeFeed.since(LOCAL_TENANT, begun)).toBe(null)
    await ledger.beat({ worker: newWorker(), now: START, ttlMs: 1_000 })
    expect(await ask(place.url, 'select count(*)::int as kept from news')).toEqual([{ kept: 2_001 }])
  })

  test('a transaction with more changes than a reader may lag behind leads to a reset', async () => {
    const { ledger, changeFeed } = await opened()
    const begun = await changeFeed.begin()
    await ledger.append(Array.from({ length: 1_001 }, () => birth(newRun())))
    expect(await changeFeed.since(LOCAL_TENANT, begun)).toBe(null)
  })

  test('positions from before a crash of the server are invalid after it', async () => {
    const store = await opened()
    const begun = await store.changeFeed.begin()
    await store.ledger.append([birth(newRun())])
    await cluster.crash()
    await cluster.start()
    const again = await opened()
    await again.ledger.append([birth(newRun())])
    expect(await again.changeFeed.since(LOCAL_TENANT, begun)).toBe(null)
    const anew = await again.changeFeed.begin()
    expect(await again.changeFeed.since(LOCAL_TENANT, begun)).toBe(null)
    const run: StreamId = newRun()
    await again.ledger.append([birth(run as RunId)])
    expect(await streamsSince(again, anew)).toEqual([run])
  })

  /** Reads until a message matches, then closes the stream. */
  const receive = async (
    server: HttpApp,
    holds: (message: SseMessage) => boolean,
    { after, begun = async () => {} }: { readonly after?: string; readonly begun?: () => Promise<unknown> } = {},
  ): Promise<readonly SseMessage[]> => {
    const response = await server.open(
      '/api/stream',
      after === undefined ? {} : { headers: { 'last-event-id': after } },
    )
    const received: SseMessage[] = []
    await begun()
    for await (const message of readSse(response)) {
      received.push(message)
      if (holds(message)) break
    }
    return received
  }
  const isAbout =
    (id: string) =>
    ({ data }: SseMessage): boolean =>
      data?.includes(id) === true

  test('shared-1: a page of one process sees the run of another, and what it missed while its own server was away', async () => {
    const [page, worker] = [await app({ work: false }), await app({ work: true })]
    let run = ''
    const start = async (): Promise<void> => {
      run = await worker.started('go')
      await worker.when(run, 'success')
    }
    const first = await receive(page, ({ data }) => run !== '' && isAbout(run)({ data } as SseMessage), {
      begun: start,
    })
    const last = first.at(-1)?.id ?? ''
    await page.close()
    const missed = await worker.started('go')
    await worker.when(missed, 'success')
    const restarted = await app({ work: false })
    const caughtUp = await receive(restarted, isAbout(missed), { after: last })
    expect(caughtUp.map(({ event }) => event)).not.toContain('reset')
    const known = new Set(first.map(({ id }) => id))
    expect(caughtUp.filter(({ id }) => known.has(id))).toEqual([])
    expect(caughtUp.some(({ data }) => data === '{"topic":"events","id":null}')).toBe(true)
  })

  test('shared-1: 200 readers of one process receive the commit of another, each once', async () => {
    const [page, worker] = [await app({ work: false }), await app({ work: true })]
    const responses = await Promise.all(Array.from({ length: 200 }, () => page.open('/api/stream?topics=events')))
    await worker.started('go')
    for (const response of responses) {
      for await (const { event, data } of readSse(response)) {
        expect([event, data]).toEqual(['notice', '{"topic":"events","id":null}'])
        break
      }
    }
  })

  test('shared-1: a position of another ledger, or an invalid one, is answered with a reset', async () => {
    const page = await app({ work: false })
    for (const after of ['0123456789ab-5-0', 'nonsense', ''])
      expect((await receive(page, () => true, { after })).at(0)).toMatchObject({ event: 'reset' })
  })
})
