/**
 * The conformance suite for every Reader: written through the Ledger of the same store, read through the Reader.
 *
 * Where the port does not specify something, this suite decides: `facts` leaves out those below `after`, as a load does; sessions are neither
 * listed nor counted as runs; children come in order of creation; events come newest first.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LOCAL_TENANT, type RunId, runId, sessionId, type TenantId } from '#model/kernel/ids.ts'
import { sumsOf } from '#model/run/newest-counts.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { Suppression } from '#ports/ledger.ts'
import type { Reader, RunQuery } from '#ports/reader.ts'
import { aCreation, aFact, anEvent, aWrite, newRun, newSession, newWorker, START } from '#testing/ledger/builders.ts'
import { type LedgerCapabilities, LedgerHarness, type LedgerUnderTest } from '#testing/ledger/harness.ts'
import { documentsSuite } from './documents-suite.ts'
import { fleetSuite } from './fleet-suite.ts'
import { sessionsSuite } from './sessions-suite.ts'
import { tasksSuite } from './tasks-suite.ts'

export interface ReaderUnderTest extends LedgerUnderTest {
  readonly reader: Reader
}

const OTHER_TENANT = 'other' as TenantId

/** Defines the tests that every implementation of the port `Reader` passes. */
export const readerSuite = (
  name: string,
  open: () => Promise<ReaderUnderTest>,
  capabilities: LedgerCapabilities = {},
): void => {
  describe(`reader: ${name}`, () => {
    let current: ReaderUnderTest | null = null
    const harness = new LedgerHarness(async () => {
      current = await open()
      return current
    }, capabilities)
    const reader = (): Reader => {
      if (current === null) throw new Error('no reader is open: this runs outside a test')
      return current.reader
    }
    beforeEach(() => harness.start())
    afterEach(() => harness.stop())
    describe('runs', () => runs(harness, reader))
    describe('one run', () => oneRun(harness, reader))
    describe('events', () => events(harness, reader))
    describe('documents', () => documentsSuite(harness, reader))
    describe('workers', () => workers(harness, reader))
    describe('fleet', () => fleetSuite(harness, reader))
    describe('tasks', () => tasksSuite(harness, reader))
    describe('sessions and model calls', () => sessionsSuite(harness, reader))
  })
}

type GetReader = () => Reader

const runs = (harness: LedgerHarness, reader: GetReader): void => {
  const listed = async (query: Partial<RunQuery> = {}): Promise<readonly RunId[]> => {
    const page = await reader().runs({
      tenant: LOCAL_TENANT,
      status: null,
      handler: null,
      before: null,
      limit: 100,
      ...query,
    })
    return page.map((run) => run.id)
  }
  const createFive = async (): Promise<readonly [RunId, RunId, RunId, RunId, RunId]> => {
    const list = [newRun(), newRun(), newRun(), newRun(), newRun()] as const
    for (const [i, run] of list.entries()) {
      const [handler, status] = [i % 2 === 0 ? 'even' : 'odd', i < 3 ? 'queued' : 'failed'] as const
      await harness.written({ writes: [aCreation(run, { handler }, { status, wakeAt: null })] })
    }
    return list
  }

  test('runs are listed newest first, page by page', async () => {
    const [a, b, c, d, e] = await createFive()
    expect(await listed()).toEqual([e, d, c, b, a])
    expect(await listed({ limit: 2 })).toEqual([e, d])
    expect(await listed({ limit: 2, before: d })).toEqual([c, b])
    expect(await listed({ limit: 2, before: b })).toEqual([a])
    expect(await listed({ limit: 2, before: a })).toEqual([])
  })

  test('runs are filtered by status, by handler, by both, also across pages', async () => {
    const [a, b, c, d, e] = await createFive()
    expect(await listed({ status: 'failed' })).toEqual([e, d])
    expect(await listed({ handler: 'even' })).toEqual([e, c, a])
    expect(await listed({ handler: 'odd', status: 'queued' })).toEqual([b])
    expect(await listed({ handler: 'even', limit: 2, before: e })).toEqual([c, a])
    expect(await listed({ handler: 'nobody' })).toEqual([])
    expect(await listed({ status: 'success', before: d })).toEqual([])
  })

  test('runs are filtered by session, with status and handler or without, also across pages', async () => {
    const [session, other] = [newSession(), newSession()]
    const created = async (of: typeof session, handler: string, status: 'queued' | 'failed'): Promise<RunId> => {
      const run = newRun()
      await harness.written({ writes: [aCreation(run, { handler, session: of }, { status, wakeAt: null })] })
      return run
    }
    const a = await created(session, 'even', 'queued')
    const b = await created(session, 'odd', 'failed')
    await created(other, 'even', 'queued')
    const c = await created(session, 'even', 'failed')
    expect(await listed({ session })).toEqual([c, b, a])
    expect(await listed({ session, limit: 1, before: c })).toEqual([b])
    expect(await listed({ session, status: 'failed' })).toEqual([c, b])
    expect(await listed({ session, handler: 'even' })).toEqual([c, a])
    expect(await listed({ session, handler: 'even', status: 'queued' })).toEqual([a])
    expect(await listed({ session, tenant: OTHER_TENANT })).toEqual([])
    expect(await listed({ session: newSession() })).toEqual([])
  })

  test('runs are counted by status', async () => {
    await createFive()
    await harness.written({ writes: [aCreation(newSession(), {}, { status: 'session', wakeAt: null })] })
    expect([...(await reader().counts(LOCAL_TENANT))].sort()).toEqual([
      ['failed', 2],
      ['queued', 3],
    ])
    expect([...(await reader().counts(OTHER_TENANT))]).toEqual([])
    expect([...(await reader().counts(LOCAL_TENANT, 'odd'))].sort()).toEqual([
      ['failed', 1],
      ['queued', 1],
    ])
  })

  test('runs are counted by status and handler for pages: the newest of each status, and whether there are more', async () => {
    await createFive()
    const held = aCreation(newRun(), { handler: 'even', lease: newWorker() }, { status: 'queued', wakeAt: null })
    const session = aCreation(newSession(), {}, { status: 'session', wakeAt: null })
    await harness.written({ writes: [held, session] })
    const of = async (most: number) => {
      const { counts, more } = await reader().newestCounts(LOCAL_TENANT, most)
      return { queued: sumsOf(counts).get('queued'), odd: [...sumsOf(counts, 'odd')].sort(), more: [...more].sort() }
    }
    const odd = [
      ['failed', 1],
      ['queued', 1],
    ]
    expect(await of(4)).toEqual({ queued: 4, odd, more: [] })
    expect(await of(3)).toEqual({ queued: 4, odd, more: ['queued'] })
    expect(await of(2)).toEqual({ queued: 3, odd, more: ['failed', 'queued'] })
    expect(await of(1)).toEqual({ queued: 2, odd: [], more: ['failed', 'queued'] })
    expect((await reader().newestCounts(OTHER_TENANT, 3)).counts).toEqual([])
  })

  test('sessions are not among the runs', async () => {
    const run = await harness.createRun()
    await harness.written({ writes: [aCreation(newSession(), {}, { status: 'session', wakeAt: null })] })
    expect(await listed()).toEqual([run])
  })

  test('[S9] another tenant sees nothing', async () => {
    const [run] = await createFive()
    await harness.written({ writes: [aCreation(newRun(), { parent: run })] })
    expect(await listed({ tenant: OTHER_TENANT })).toEqual([])
    expect(await reader().run(OTHER_TENANT, run)).toBeNull()
    expect(await reader().facts(OTHER_TENANT, run, { after: 0, limit: 9 })).toEqual([])
    expect(await reader().children(OTHER_TENANT, run)).toEqual([])
    expect(await reader().runsEndingWith(OTHER_TENANT, run.slice(-6))).toEqual([])
  })

  test('runs are found by the last digits of their id, at most two', async () => {
    const [a] = await createFive()
    expect(await reader().runsEndingWith(LOCAL_TENANT, a.slice(-12))).toEqual([a])
    expect(await reader().runsEndingWith(LOCAL_TENANT, a.slice(4))).toEqual([a])
    for (const digits of [6, 7, 8, 31])
      expect(await reader().runsEndingWith(LOCAL_TENANT, a.slice(-digits))).toEqual([a])
    expect(await reader().runsEndingWith(LOCAL_TENANT, a.slice(-12).toUpperCase())).toEqual([a])
    expect(await reader().runsEndingWith(LOCAL_TENANT, 'ffffffffffff')).toEqual([])
    expect(await reader().runsEndingWith(LOCAL_TENANT, `f${a.slice(-6)}`)).toEqual([])
    expect(await reader().runsEndingWith(LOCAL_TENANT, '')).toHaveLength(2)
    // A wildcard of SQL's `like` does not match as a digit.
    expect(await reader().runsEndingWith(LOCAL_TENANT, '%')).toEqual([])
    const twin = runId(`ffff${a.slice(8)}`)
    const session = sessionId(`eeee${a.slice(8)}`)
    await harness.written({ writes: [aCreation(twin), aCreation(session, {}, { status: 'session', wakeAt: null })] })
    for (const digits of [6, 9, 28])
      expect([...(await reader().runsEndingWith(LOCAL_TENANT, a.slice(-digits)))].sort()).toEqual([a, twin])
    expect(await reader().runsEndingWith(LOCAL_TENANT, twin.slice(-29))).toEqual([twin])
  })
}

const oneRun = (harness: LedgerHarness, reader: GetReader): void => {
  test('a run has a summary of its current state', async () => {
    const [run, parent, session] = [newRun(), newRun(), newSession()]
    const { sequences } = await harness.written({
      events: [anEvent()],
      writes: [aCreation(run, { event: 0, parent, session, handler: 'h' }, { wakeAt: START + 5 })],
    })
    const summary = { id: run, handler: 'h', session, parent, event: sequences[0], createdAt: START }
    expect(await reader().run(LOCAL_TENANT, run)).toEqual({
      ...summary,
      status: 'queued',
      version: 1,
      wakeAt: START + 5,
      leased: false,
    })
    await harness.ledger.claim({ worker: newWorker(), now: START + 5, limit: 1 })
    expect(await reader().run(LOCAL_TENANT, run)).toEqual({
      ...summary,
      status: 'queued',
      version: 1,
      wakeAt: null,
      leased: true,
    })
    await harness.written({ writes: [aWrite(run, { status: 'success', release: true })] })
    expect(await reader().run(LOCAL_TENANT, run)).toEqual({
      ...summary,
      status: 'success',
      version: 2,
      wakeAt: null,
      leased: false,
    })
  })

  test('an unknown run is null, without facts and children', async () => {
    expect(await reader().run(LOCAL_TENANT, newRun())).toBeNull()
    expect(await reader().facts(LOCAL_TENANT, newRun(), { after: 0, limit: 9 })).toEqual([])
    expect(await reader().children(LOCAL_TENANT, newRun())).toEqual([])
  })

  test('[A7] an event is found by its id, and leads to the runs that it started', async () => {
    const [first, second] = [newRun(), newRun()]
    const events = [anEvent({ id: 'one', source: 'a' }), anEvent({ id: 'one', source: 'b' }), anEvent({ id: 'two' })]
    await harness.written({
      events,
      writes: [aCreation(first, { event: 1, handler: 'b' }), aCreation(second, { event: 1, handler: 'a' })],
    })
    const found = await reader().eventsWithId(LOCAL_TENANT, 'one')
    expect(found.map(({ source }) => source)).toEqual(['a', 'b'])
    const [unheard, heard] = found.map(({ sequence }) => sequence)
    const started = async (event = 0, limit = 9) =>
      (await reader().startedBy(LOCAL_TENANT, event, limit)).map(({ id }) => id)
    expect(await started(heard)).toEqual([second, first])
    expect(await started(heard, 1)).toEqual([second])
    expect(await started(unheard)).toEqual([])
    expect(await reader().eventsWithId('other' as TenantId, 'one')).toEqual([])
    expect(await reader().startedBy('other' as TenantId, heard ?? 0, 9)).toEqual([])
  })

  test('facts are read page by page, each page starting at its seq', async () => {
    const facts = Array.from({ length: 5 }, () => aFact())
    const run = await harness.createRun({ facts })
    const page = (after: number) => reader().facts(LOCAL_TENANT, run, { after, limit: 2 })
    expect([await page(0), await page(2), await page(4), await page(5)]).toEqual([
      facts.slice(0, 2),
      facts.slice(2, 4),
      facts.slice(4),
      [],
    ])
  })

  test('children are listed in order of creation', async () => {
    const parent = await harness.createRun()
    const children = [newRun(), newRun(), newRun()]
    for (const child of children) await harness.written({ writes: [aCreation(child, { parent })] })
    expect((await reader().children(LOCAL_TENANT, parent)).map((child) => child.id)).toEqual(children)
    expect(await reader().children(LOCAL_TENANT, children[0] as RunId)).toEqual([])
  })
}

const events = (harness: LedgerHarness, reader: GetReader): void => {
  test('events are listed newest first, optionally by type, page by page', async () => {
    const sequences: number[] = []
    for (const type of ['a', 'b', 'a', 'a', 'b'])
      sequences.push(...(await harness.written({ events: [anEvent({ type })] })).sequences)
    await harness.written({ events: [anEvent({ type: 'a', tenant: OTHER_TENANT })] })
    const listed = async (type: string | null, before: number | null, limit: number) =>
      (await reader().events({ tenant: LOCAL_TENANT, type, before, limit })).map((event) => event.sequence)
    const [a1, b1, a2, a3, b2] = sequences as [number, number, number, number, number]
    expect(await listed(null, null, 9)).toEqual([b2, a3, a2, b1, a1])
    expect(await listed('a', null, 2)).toEqual([a3, a2])
    expect(await listed('a', a2, 2)).toEqual([a1])
    expect(await listed(null, a2, 1)).toEqual([b1])
    expect(await listed('c', null, 9)).toEqual([])
  })

  test('an event is read with all its attributes', async () => {
    const entry = anEvent({
      subject: 's',
      causationId: 'c',
      traceparent: 't',
      hops: 2,
      chain: ['x'],
      data: { a: ['\u0000', 'ü'] },
    })
    const { sequences } = await harness.written({ events: [entry] })
    const page = await reader().events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 1 })
    expect(page).toEqual([{ ...entry.event, sequence: sequences[0] }])
  })

  test('[V15] triggers that an event did not fire are stored with their reasons', async () => {
    const suppressed: Suppression[] = [
      { trigger: 'bill', reason: 'filter', detail: 'amount > 100' },
      { trigger: 'mail', reason: 'error', detail: 'no such field: "to"' },
    ]
    const { sequences } = await harness.written({ events: [anEvent({}, { suppressed }), anEvent()] })
    const [first, second] = sequences as [number, number]
    const found = await reader().suppressed(LOCAL_TENANT, first)
    expect([...found].sort((a, b) => (a.trigger < b.trigger ? -1 : 1))).toEqual(suppressed)
    expect(await reader().suppressed(LOCAL_TENANT, second)).toEqual([])
    expect(await reader().suppressed(OTHER_TENANT, first)).toEqual([])
  })
}

const AT_WORK: WorkerInfo = {
  name: 'mail-1',
  pool: 'mail',
  labels: { region: 'eu' },
  modules: null,
  slots: 4,
  startedAt: START,
  drains: false,
}

const workers = (harness: LedgerHarness, reader: GetReader): void => {
  const ttlMs = 15_000
  const list = (after = null as Parameters<Reader['workers']>[0]['after'], limit = 9) =>
    reader().workers({ after, limit })

  test('[N4] a worker is shown with its own description, its last heartbeat and its number of leases', async () => {
    const worker = newWorker()
    await harness.ledger.beat({ worker, now: START, ttlMs, info: AT_WORK })
    const run = await harness.createRun()
    await harness.ledger.claim({ worker, now: START, limit: 1, only: [run] })
    expect(await list()).toEqual([{ id: worker, beatAt: START, info: AT_WORK, leases: 1 }])
    expect(await reader().heldBy(LOCAL_TENANT, worker, 9)).toMatchObject([{ id: run, leased: true }])
    expect(await reader().heldBy(OTHER_TENANT, worker, 9)).toEqual([])
    await harness.ledger.retire(worker, START + 1)
    expect(await list()).toEqual([])
    expect(await reader().heldBy(LOCAL_TENANT, worker, 9)).toEqual([])
  })

  test('a heartbeat without a description keeps the last one, a later description replaces it', async () => {
    const worker = newWorker()
    await harness.ledger.beat({ worker, now: START, ttlMs })
    expect(await list()).toEqual([{ id: worker, beatAt: START, info: null, leases: 0 }])
    await harness.ledger.beat({ worker, now: START + 1, ttlMs, info: AT_WORK })
    await harness.ledger.beat({ worker, now: START + 2, ttlMs })
    expect(await list()).toEqual([{ id: worker, beatAt: START + 2, info: AT_WORK, leases: 0 }])
    await harness.ledger.beat({ worker, now: START + 3, ttlMs, info: { ...AT_WORK, drains: true } })
    expect(await list()).toMatchObject([{ info: { drains: true } }])
  })

  test('[I5] a worker that has been silent for longer than the ttl is no longer shown after the next heartbeat', async () => {
    const [silent, alive] = [newWorker(), newWorker()]
    await harness.ledger.beat({ worker: silent, now: START, ttlMs, info: AT_WORK })
    await harness.ledger.beat({ worker: alive, now: START + ttlMs, ttlMs, info: AT_WORK })
    expect((await list()).map(({ id }) => id).sort()).toEqual([silent, alive].sort())
    await harness.ledger.beat({ worker: alive, now: START + ttlMs + 1, ttlMs })
    expect((await list()).map(({ id }) => id)).toEqual([alive])
  })

  test('workers and their runs are listed page by page', async () => {
    const all = Array.from({ length: 5 }, () => newWorker()).sort()
    for (const worker of all) await harness.ledger.beat({ worker, now: START, ttlMs })
    const first = await list(null, 2)
    expect(first.map(({ id }) => id)).toEqual(all.slice(0, 2))
    expect((await list(all[1] ?? null, 9)).map(({ id }) => id)).toEqual(all.slice(2))
    const [worker] = all
    if (worker === undefined) throw new Error('five were made')
    const runs = [await harness.createRun(), await harness.createRun(), await harness.createRun()]
    await harness.ledger.claim({ worker, now: START, limit: 9 })
    expect((await reader().heldBy(LOCAL_TENANT, worker, 2)).map(({ id }) => id)).toEqual(runs.slice(0, 2))
  })
}
