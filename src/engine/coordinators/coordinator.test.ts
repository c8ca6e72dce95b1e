/** Coordinators on an in-memory ledger that tests observe, delay and make fail. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Append, Ledger, StreamWrite } from '#ports/ledger.ts'
import { engineOf, HOUR } from '#test/support/engine.ts'
import { anAppend, anEvent, newWorker } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

/** Hooks around an append: before it is written, and after it, where a throw replaces its answer. */
interface Meddling {
  before?: (batch: readonly Append[]) => Promise<void>
  after?: (batch: readonly Append[]) => void
}

const isGate = ({ stream }: StreamWrite): boolean => stream.startsWith('gat_')
const writesOf = (batch: readonly Append[]): readonly StreamWrite[] => batch.flatMap(({ writes }) => writes)

const begin = async (options: Partial<FunctionOptions<{ n: number }>>, pollMs = 1_000 * HOUR) => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000_000)
  const inner = new MemoryLedger(store)
  const meddling: Meddling = {}
  const appends: Append[] = []
  const asked: string[] = []
  const ledger: Ledger = {
    append: async (batch) => {
      await meddling.before?.(batch)
      appends.push(...batch)
      const outcomes = await inner.append(batch)
      meddling.after?.(batch)
      return outcomes
    },
    load: (streams, query) => {
      // A coordinator reads only the heads of the runs that it tracks.
      if (query?.after === Number.MAX_SAFE_INTEGER) asked.push(...streams.filter((stream) => stream.startsWith('run_')))
      return inner.load(streams, query)
    },
    events: (query) => inner.events(query),
    claim: (request) => inner.claim(request),
    beat: (request) => inner.beat(request),
    retire: (worker, now) => inner.retire(worker, now),
    close: () => inner.close(),
  }
  const seen: number[] = []
  const hear = fn<{ n: number }>('hear', { trigger: 'go', ...options }, async ({ input, step }) => {
    await step.run('note', () => void seen.push(input.n))
    if (options.overlap !== undefined) await step.sleep('work', '1h')
  })
  const source = { name: 'test', events: { go: null }, functions: [hear] }
  const engine = engineOf({ ledger, clock, source, worker: { pollMs } })
  const started = engine.start()
  await clock.advance(0)
  await started
  const send = async (n: number): Promise<void> => {
    const receipt = engine.send({ type: 'go', data: { n } })
    await clock.advance(0)
    await receipt
  }
  return { clock, inner, meddling, appends, asked, seen, send }
}

const GATED = { rateLimit: { limit: 100, period: '1m' } } as const

test('coordinator-1: the facts of a decision and the runs it starts are one append', async () => {
  const { appends, seen, send } = await begin(GATED)
  for (const n of [1, 2, 3]) await send(n)
  expect(seen).toEqual([1, 2, 3])
  const deciding = appends.filter(({ writes }) =>
    writes.some((write) => write.facts.some(({ type }) => type === 'gate.started')),
  )
  expect(deciding).toHaveLength(3)
  for (const { writes } of deciding) {
    const started = writes.flatMap(({ facts }) => facts).filter(({ type }) => type === 'gate.started')
    const named = started.map(({ body }) => JSON.parse(body).run)
    expect(writes.filter(({ create }) => create !== null).map(({ stream }) => stream)).toEqual(named)
    expect(writes.find(isGate)?.epoch).toBeGreaterThan(0)
  }
})

test('coordinator-2: an event that comes while the gate parks is not missed', async () => {
  const { clock, inner, meddling, seen, send } = await begin(GATED)
  let late = 0
  meddling.before = async (batch) => {
    if (late > 0 || !writesOf(batch).some((write) => isGate(write) && write.release)) return
    late++
    const { event, ...rest } = anEvent()
    await inner.append([anAppend({ events: [{ ...rest, event: { ...event, type: 'go', data: { n: 2 } } }] })])
  }
  await send(1)
  await clock.advance(1_000)
  expect(late).toBe(1)
  expect(seen).toEqual([1, 2])
})

test('coordinator-2: the end of a run is seen again if another writer overtook the decision that saw it first', async () => {
  const { clock, inner, meddling, seen, send } = await begin({ overlap: 'buffer_all' })
  await send(1)
  await send(2)
  let overtaken = 0
  meddling.before = async (batch) => {
    const [write] = writesOf(batch).filter(({ facts }) => facts.some(({ type }) => type === 'gate.run_ended'))
    if (overtaken > 0 || write === undefined) return
    overtaken++
    // A release without facts does not raise the version; a fact of another writer does.
    const [first] = write.facts
    const facts = first === undefined ? [] : [{ ...first, type: 'gate.resumed', body: '{"by":"ana"}' }]
    await inner.append([anAppend({ writes: [{ ...write, epoch: null, facts, release: false }] })])
  }
  await clock.advance(2 * HOUR)
  expect(overtaken).toBe(1)
  expect(seen).toEqual([1, 2])
})

test('a gate without a signal since its last look does not query its runs', async () => {
  const { clock, asked, send } = await begin({ overlap: 'buffer_all' })
  await send(1)
  await clock.advance(40)
  expect(asked).toEqual([])
  await send(2)
  expect(asked).toHaveLength(1)
})

test('coordinator-3: a gate that lost its lease writes nothing more, and its next holder continues', async () => {
  const { clock, inner, meddling, seen, send } = await begin(GATED)
  let stolen = 0
  meddling.before = async (batch) => {
    if (stolen > 0 || !writesOf(batch).some((write) => isGate(write) && write.facts.length > 0)) return
    stolen++
    // Another process considers this one dead and frees its leases: the epoch rises.
    const coroner = newWorker()
    await inner.beat({ worker: coroner, now: clock.now(), ttlMs: -1 })
    await inner.retire(coroner, clock.now())
  }
  await send(1)
  await clock.advance(10_000)
  expect(stolen).toBe(1)
  expect(seen).toEqual([1])
})

test('coordinator-3: a gate is released after a store failure and taken up again', async () => {
  const { clock, meddling, seen, send } = await begin(GATED, 1_000)
  let failures = 0
  meddling.before = async (batch) => {
    if (failures > 0 || !writesOf(batch).some((write) => isGate(write) && write.facts.length > 0)) return
    failures++
    throw new TrihandError('STORAGE_FULL', 'the disk is full', { outcome: 'not_done' })
  }
  await send(1)
  expect(seen).toEqual([])
  await clock.advance(60_000)
  expect(failures).toBe(1)
  expect(seen).toEqual([1])
})

test('coordinator-4: a gate whose cancel was not delivered requests it again before it parks', async () => {
  const { clock, meddling, seen, send } = await begin({ overlap: 'cancel_running' }, 1_000)
  let failures = 0
  meddling.before = async (batch) => {
    const isCancel = writesOf(batch).some(({ facts }) => facts.some(({ type }) => type === 'run.cancel_requested'))
    if (failures > 0 || !isCancel) return
    failures++
    throw new TrihandError('LEDGER_UNAVAILABLE', 'the store is away', { outcome: 'not_done' })
  }
  await send(1)
  await send(2)
  await clock.advance(120_000)
  expect(failures).toBe(1)
  expect(seen).toEqual([1, 2])
})

test('births-1: a run that was created with a lease begins here, however late the answer to its append arrives', async () => {
  const { clock, meddling, seen, send } = await begin(GATED)
  let lostAnswers = 0
  meddling.after = (batch) => {
    if (lostAnswers > 3 || !writesOf(batch).some(({ create }) => create !== null)) return
    lostAnswers++
    throw new TrihandError('LEDGER_UNAVAILABLE', 'the answer was lost', { outcome: 'unknown' })
  }
  await send(1)
  await clock.advance(60_000)
  expect(lostAnswers).toBe(4)
  expect(seen).toEqual([1])
})
