/** Several workers on one in-memory ledger with a virtual clock: which runs each takes, and how a worker stops. */
import { expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import type { Engine } from '#engine/core/engine.ts'
import { fn } from '#executors/workflow/function.ts'
import type { ModuleSource } from '#manifest/define/modules.ts'
import type { PoolSource } from '#manifest/define/placement.ts'
import { LOCAL_TENANT, type RunId, workerId } from '#model/kernel/ids.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'
import type { FunctionSource } from '#model/workflow/function-source.ts'
import type { ClaimRequest, Claims, Ledger } from '#ports/ledger.ts'
import { engineOf } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const NOWHERE: WorkerPlace = { pool: null, labels: {}, modules: null }
const LEASE_MS = 3_000

const aContext = (
  functions: readonly FunctionSource[],
  modules: readonly ModuleSource[] = [],
  pools: readonly PoolSource[] = [],
) => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000_000)
  const ids = new SystemIds()
  const reader = new MemoryReader(store)
  const source = { name: 'test', functions, modules, pools, events: { word: null } }
  const blobs = new MemoryBlobs()
  const join = async (name: string, place: Partial<WorkerPlace> = {}): Promise<Engine> => {
    const engine = engineOf({
      ledger: new MemoryLedger(store),
      clock,
      source,
      ids,
      worker: { name, place: { ...NOWHERE, ...place }, slots: 10, leaseTtlMs: LEASE_MS, pollMs: 250, drainMs: 60_000 },
      deps: { blobs, workers: (query) => reader.workers(query) },
    })
    await engine.start()
    await clock.advance(0)
    return engine
  }
  return { store, clock, reader, join }
}

const PREFERRING = { prefer: [{ label: 'region=eu' }] }

const during = async <T>(clock: VirtualClock, work: Promise<T>): Promise<T> => {
  await clock.advance(0)
  return work
}

/** Adds a worker in the preferred region whose heartbeat outlasts the test, and that never claims. */
const keepAlive = async (store: MemoryStore, clock: VirtualClock): Promise<void> => {
  const info = { name: 'busy', ...NOWHERE, labels: { region: 'eu' }, slots: 1, startedAt: 0, drains: false }
  const worker = workerId(new SystemIds().uuid())
  await new MemoryLedger(store).beat({ worker, now: clock.now(), ttlMs: LEASE_MS, info })
  store.workers.set(worker, { beatAt: clock.now() + 1e9, info })
  await clock.advance(LEASE_MS)
}

const endedBy = (log: string[]) => {
  const say = (handler: string, options = {}): FunctionSource =>
    fn<{ by?: string }>(handler, options, ({ step }) => step.run('note', () => log.push(handler)))
  return say
}

test('[N7] worker-5: a run goes to the pool that its handler names, even if a worker outside that pool starts it', async () => {
  const log: string[] = []
  const say = endedBy(log)
  const { clock, join, store } = aContext([say('mail', { pool: 'mail' }), say('any')])
  const web = await join('web')
  const mail = await during(clock, web.startRun('mail', null))
  await clock.advance(10_000)
  expect(log).toEqual([])
  expect(store.streams.get(mail)).toMatchObject({ lease: null, status: 'queued' })
  const post = await join('post', { pool: 'mail' })
  await clock.advance(1_000)
  expect((await web.look(mail)).status).toBe('success')
  const any = await during(clock, post.startRun('any', null))
  await clock.advance(0)
  expect((await web.look(any)).status).toBe('success')
  await Promise.all([web.stop(), post.stop()])
})

test('[N9] a worker that lacks the module of a function never takes its runs', async () => {
  const { clock, join, store } = aContext(
    [fn('letter', { module: 'post' }, () => 'sent')],
    [{ name: 'post', allow: { operations: ['api_call'] } }],
  )
  const web = await join('web', { modules: ['shop'] })
  const run = await during(clock, web.startRun('letter', null))
  await clock.advance(60_000)
  expect(store.streams.get(run)).toMatchObject({ lease: null, epoch: 0, status: 'queued' })
  const post = await join('post', { modules: ['post'] })
  await clock.advance(1_000)
  expect((await web.look(run)).status).toBe('success')
  await Promise.all([web.stop(), post.stop()])
})

test('[N7] claim-filter-2: a run is left to its preferred worker, and taken by another after a second if that one does not take it', async () => {
  const { clock, join, store } = aContext([fn('near', { placement: PREFERRING }, () => 'done')])
  const [far, near] = [await join('far'), await join('near', { labels: { region: 'eu' } })]
  await clock.advance(LEASE_MS)
  const first = await during(clock, far.startRun('near', null))
  expect(store.streams.get(first)?.lease).toBeNull()
  await clock.advance(300)
  expect((await far.look(first)).status).toBe('success')
  // This worker lives but takes nothing, like a worker without a free slot.
  await during(clock, near.stop())
  await keepAlive(store, clock)
  const second = await during(clock, far.startRun('near', null))
  await clock.advance(900)
  expect((await far.look(second)).status).toBe('queued')
  await clock.advance(400)
  expect((await far.look(second)).status).toBe('success')
  await far.stop()
})

/** Starts waiting runs on one worker and wakes them from another; `seen` lists the workers that continue them. */
const wokenElsewhere = async (sticky: boolean) => {
  const seen: (string | null)[] = []
  const { store, clock, reader, join } = aContext([
    fn('talk', { placement: { sticky } }, async ({ step, run }) => {
      await step.waitForEvent('word', { event: 'word' })
      await step.run('answer', () => seen.push(store.streams.get(run.id as RunId)?.lease ?? null))
    }),
    fn('speak', {}, ({ step }) => step.emit('say', { type: 'word', data: {} })),
  ])
  const [first, second] = [await join('first'), await join('second')]
  await clock.advance(LEASE_MS)
  const runs = await during(clock, Promise.all([1, 2, 3].map(() => first.startRun('talk', null))))
  await clock.advance(0)
  const ids = await reader.workers({ after: null, limit: 9 })
  const nameOf = (id: string | null) => ids.find((one) => one.id === id)?.info?.name
  return { clock, store, first, second, runs, seen: () => seen.map(nameOf) }
}

test('[N7] claim-filter-3: a sticky run continues on the worker that had it last, whichever worker wakes it', async () => {
  const { clock, first, second, seen } = await wokenElsewhere(true)
  await during(clock, second.startRun('speak', null))
  await clock.advance(999)
  expect(seen()).toEqual(['first', 'first', 'first'])
  await Promise.all([first.stop(), second.stop()])
})

test('a run that is not sticky continues on the worker that wakes it', async () => {
  const { clock, first, second, seen } = await wokenElsewhere(false)
  await during(clock, second.startRun('speak', null))
  await clock.advance(0)
  expect(seen()).toEqual(['second', 'second', 'second'])
  await Promise.all([first.stop(), second.stop()])
})

test('[N7] another worker takes a sticky run after a second if its worker takes nothing, and at once if its worker has left', async () => {
  const busy = await wokenElsewhere(true)
  await during(busy.clock, busy.first.stop())
  await keepAlive(busy.store, busy.clock)
  await during(busy.clock, busy.second.startRun('speak', null))
  await busy.clock.advance(900)
  expect(busy.seen()).toEqual([])
  await busy.clock.advance(400)
  expect(busy.seen()).toEqual(['second', 'second', 'second'])
  await busy.second.stop()
  const gone = await wokenElsewhere(true)
  await during(gone.clock, gone.first.stop())
  await gone.clock.advance(LEASE_MS)
  await during(gone.clock, gone.second.startRun('speak', null))
  await gone.clock.advance(0)
  expect(gone.seen()).toEqual(['second', 'second', 'second'])
  await gone.second.stop()
})

test('[N4] claim-filter-4: a worker beyond the limit of its pool stands by, and takes runs when another one leaves', async () => {
  const log: string[] = []
  const say = endedBy(log)
  const { clock, join, store } = aContext([say('mail', { pool: 'mail' })], [], [{ name: 'mail', max: 1 }])
  const first = await join('first', { pool: 'mail' })
  await clock.advance(1)
  const second = await join('second', { pool: 'mail' })
  const run = await during(clock, second.startRun('mail', null))
  expect(store.streams.get(run)?.lease).toBeNull()
  await clock.advance(300)
  expect(log).toEqual(['mail'])
  await during(clock, first.stop())
  await clock.advance(LEASE_MS)
  await during(clock, second.startRun('mail', null))
  await clock.advance(0)
  expect(log).toEqual(['mail', 'mail'])
  await second.stop()
})

test('[I6] worker-4: a worker that drains longer than its lease keeps its runs, and they are not performed twice', async () => {
  const begun: string[] = []
  let finish = (): void => {}
  const slow = fn('slow', {}, ({ step }) =>
    step.run('lift', () => {
      begun.push('lift')
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    }),
  )
  const { clock, join, reader } = aContext([slow])
  const first = await join('first')
  const run = await during(clock, first.startRun('slow', null))
  await clock.advance(0)
  const second = await join('second')
  const stopping = first.stop()
  await clock.advance(10 * LEASE_MS)
  expect(begun).toEqual(['lift'])
  const drains = (await reader.workers({ after: null, limit: 9 })).map(({ info }) => [info?.name, info?.drains])
  expect(Object.fromEntries(drains)).toEqual({ first: true, second: false })
  finish()
  await clock.advance(0)
  await stopping
  expect((await first.look(run)).status).toBe('success')
  expect(begun).toEqual(['lift'])
  await second.stop()
})

test('[I6] an order to drain is followed at the next heartbeat, and the process can still start runs for other workers', async () => {
  const { clock, join, reader } = aContext([fn('work', {}, () => 'done')])
  const [first, second] = [await join('first'), await join('second')]
  const ids = await reader.workers({ after: null, limit: 9 })
  const target = ids.find(({ info }) => info?.name === 'first')?.id
  if (target === undefined) throw new Error('the first worker has not beaten')
  await during(clock, second.fleet.order('drain', target, { by: 'ana' }))
  await clock.advance(LEASE_MS)
  await first.drained
  expect((await reader.workers({ after: null, limit: 9 })).map(({ info }) => info?.name)).toEqual(['second'])
  const run = await during(clock, first.startRun('work', null))
  await clock.advance(1_000)
  expect((await second.look(run)).status).toBe('success')
  await first.stop()
  await second.stop()
})

test('a second stop, also during the drain, waits for the same end', async () => {
  const { clock, join } = aContext([])
  const engine = await join('one')
  const both = Promise.all([engine.stop(), engine.stop()])
  await clock.advance(0)
  await both
  await engine.drained
})

test('[I7] circuits-1: only one of two workers probes a target that both could try again at the same instant', async () => {
  let calls = 0
  const circuit = { window: 2, minCalls: 2, openFor: 1_000 }
  const pay = fn('pay', { circuit }, ({ step }) =>
    step.run('charge', () => {
      calls += 1
      throw new Error('the bank does not answer')
    }),
  )
  const { clock, join } = aContext([pay])
  const [first, second] = [await join('first'), await join('second')]
  for (const engine of [first, second, first, second]) await during(clock, engine.startRun('pay', null))
  await clock.advance(900)
  const before = calls
  // Each worker has its own window of results, so up to four calls may pass before both know that the circuit is open.
  expect(before).toBeLessThanOrEqual(4)
  await clock.advance(1_000)
  expect(calls).toBe(before + 1)
  await Promise.all([first.stop(), second.stop()])
})

/** Answers a claim only after a call of `answer`. */
class SlowLedger extends MemoryLedger {
  answer: () => void = () => {}
  readonly #answered = new Promise<void>((resolve) => {
    this.answer = resolve
  })

  override async claim(request: ClaimRequest): Promise<Claims> {
    const claims = await super.claim(request)
    await this.#answered
    return claims
  }
}

test('a claim that is answered after its worker has stopped sets no timer for runs that are due later', async () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000_000)
  const source = { name: 'test', functions: [fn('nap', {}, ({ step }) => step.sleep('long', '300d'))], events: {} }
  const before = engineOf({ ledger: new MemoryLedger(store), clock, source })
  await before.start()
  await during(clock, before.startRun('nap', null))
  await during(clock, before.stop())
  const ledger = new SlowLedger(store)
  const engine = engineOf({ ledger, clock, source })
  await engine.start()
  await clock.advance(0)
  await during(clock, engine.stop())
  ledger.answer()
  await clock.advance(0)
  expect(clock.pending()).toEqual([])
})

test('a worker whose start failed halfway sends heartbeats and takes runs once it is started again', async () => {
  const { store, clock, reader } = aContext([])
  const inner = new MemoryLedger(store)
  let failures = 1
  const ledger: Ledger = {
    append: (batch) => inner.append(batch),
    load: (streams, options) => inner.load(streams, options),
    events: (query) => (failures-- > 0 ? Promise.reject(new Error('the store is away')) : inner.events(query)),
    claim: (request) => inner.claim(request),
    beat: (request) => inner.beat(request),
    retire: (worker, now) => inner.retire(worker, now),
    close: () => inner.close(),
  }
  const source = { name: 'test', functions: [fn('nap', {}, async ({ step }) => step.sleep('nap', '5s'))] }
  const options = { name: 'late', slots: 10, leaseTtlMs: LEASE_MS, pollMs: 250, drainMs: 60_000 }
  const engine = engineOf({ ledger, clock, source, worker: options })
  await expect(engine.start()).rejects.toThrow('the store is away')
  await engine.start()
  await during(clock, engine.startRun('nap', null))
  await clock.advance(10 * LEASE_MS)
  const [worker] = await reader.workers({ after: null, limit: 1 })
  expect(clock.now() - (worker?.beatAt ?? 0)).toBeLessThan(LEASE_MS)
  expect((await reader.counts(LOCAL_TENANT)).get('success')).toBe(1)
  await during(clock, engine.stop())
})
