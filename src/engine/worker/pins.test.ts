/** Two versions of one system side by side on one in-memory ledger: which of them continues a run. */
import { expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import type { Engine } from '#engine/core/engine.ts'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { engineOf } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const LEASE_MS = 3_000
const NOWHERE = { pool: null, labels: {}, modules: null }

type Version = 'old' | 'new'

const aFleet = (options: Pick<FunctionOptions<unknown>, 'pin' | 'pinFor'> = {}) => {
  const [store, clock, ids, blobs] = [
    new MemoryStore(),
    new VirtualClock(1_000_000),
    new SystemIds(),
    new MemoryBlobs(),
  ]
  const [reader, ledger] = [new MemoryReader(store), new MemoryLedger(store)]
  const done: string[] = []
  const rounds = async (
    step: { run: (name: string, work: () => void) => unknown; sleep: (name: string, time: string) => unknown },
    version: Version,
  ) => {
    for (const round of [1, 2, 3, 4]) {
      await step.run(`${version} ${round}`, () => void done.push(version))
      await step.sleep(`pause ${round}`, '1m')
    }
  }
  const code = {
    old: fn('work', options, async ({ step }) => rounds(step, 'old')),
    new: fn('work', options, async ({ step }) => rounds(step, 'new')),
  }
  const join = async (version: Version, slots = 10): Promise<Engine> => {
    const engine = engineOf({
      ledger: new MemoryLedger(store),
      clock,
      ids,
      source: { name: 'test', functions: [code[version]] },
      worker: { name: version, place: NOWHERE, slots, leaseTtlMs: LEASE_MS, pollMs: 250, drainMs: 60_000 },
      deps: { blobs, workers: (query) => reader.workers(query) },
    })
    await engine.start()
    await clock.advance(0)
    return engine
  }
  const during = async <T>(work: Promise<T>): Promise<T> => {
    await clock.advance(0)
    return work
  }
  const begin = (engine: Engine): Promise<RunId> => during(engine.startRun('work', null))
  const leave = (...engines: readonly Engine[]): Promise<unknown> =>
    during(Promise.all(engines.map((one) => one.stop())))
  const handOvers = async (run: RunId): Promise<number> => {
    const [record] = await ledger.load([run])
    return (record?.facts ?? []).map(readRunFact).filter(({ type }) => type === 'run.handed_over').length
  }
  return { clock, ids, store, code, join, begin, leave, handOvers, done }
}

test('[N5] pin-2: with two versions side by side a run stays on the version that it began with (13.2.2)', async () => {
  const { clock, join, begin, leave, handOvers, done } = aFleet()
  const old = await join('old')
  const run = await begin(old)
  const fresh = await join('new')
  await clock.advance(600_000)
  expect([done, await handOvers(run)]).toEqual([['old', 'old', 'old', 'old'], 0])
  await leave(old, fresh)
})

test('[N5] pin-2: when the last worker of its version leaves, a run is handed over once, as a fact, and continues (13.2.2)', async () => {
  const { clock, join, begin, leave, handOvers, done } = aFleet()
  const old = await join('old')
  const run = await begin(old)
  const fresh = await join('new')
  await clock.advance(30_000)
  await leave(old)
  await clock.advance(600_000)
  expect([done, await handOvers(run)]).toEqual([['old', 'new', 'new', 'new', 'new'], 1])
  await leave(fresh)
})

test('[N5] pin-3: with `hard` a run waits for its own version, and continues when that version is back (13.2.2)', async () => {
  const { clock, join, begin, leave, handOvers, done } = aFleet({ pin: 'hard' })
  const old = await join('old')
  const run = await begin(old)
  const fresh = await join('new')
  await clock.advance(30_000)
  await leave(old)
  await clock.advance(3_600_000)
  expect(done).toEqual(['old'])
  const back = await join('old')
  await clock.advance(600_000)
  expect([done, await handOvers(run)]).toEqual([['old', 'old', 'old', 'old'], 0])
  await leave(fresh, back)
})

test('[N5] pin-4: with `none` a run continues on any version, and no hand-over is recorded (13.2.2)', async () => {
  const { clock, join, begin, leave, handOvers, done } = aFleet({ pin: 'none' })
  const old = await join('old')
  const run = await begin(old)
  const fresh = await join('new')
  await leave(old)
  await clock.advance(600_000)
  expect([done, await handOvers(run)]).toEqual([['old', 'new', 'new', 'new', 'new'], 0])
  await leave(fresh)
})

test('[N5] pin-2: a run that its busy version does not take within `pinFor` is handed over while that version lives (13.2.2)', async () => {
  const { clock, join, begin, leave, done } = aFleet({ pinFor: '5s' })
  const old = await join('old', 1)
  await begin(old)
  await begin(old)
  expect(done).toEqual(['old', 'old'])
  await leave(old)
  const [again, fresh] = [await join('old', 0), await join('new')]
  await clock.advance(60_000)
  expect(done).toEqual(['old', 'old'])
  await clock.advance(6_000)
  // Its steps have other names: the new code does the first and the second round of both runs.
  expect(done).toEqual(['old', 'old', 'new', 'new', 'new', 'new'])
  await leave(again, fresh)
})

test('[N5] run-5: code that is replaced between claim and entry takes the run over with a fact before any step (13.2.2)', async () => {
  const { clock, ids, store, code } = aFleet()
  const inner = new MemoryLedger(store)
  const held: { engine?: Engine } = {}
  const ledger = Object.assign(Object.create(inner) as Ledger, {
    append: (batch: Parameters<Ledger['append']>[0]) => inner.append(batch),
    load: (...asked: Parameters<Ledger['load']>) => inner.load(...asked),
    events: (query: Parameters<Ledger['events']>[0]) => inner.events(query),
    beat: (request: Parameters<Ledger['beat']>[0]) => inner.beat(request),
    retire: (...who: Parameters<Ledger['retire']>) => inner.retire(...who),
    claim: async (request: Parameters<Ledger['claim']>[0]) => {
      const claims = await inner.claim(request)
      if (claims.claims.length > 0) held.engine?.replace(normalise({ name: 'test', functions: [code.new] }, digest))
      return claims
    },
  })
  const digest = (text: string): string => ids.digest(text)
  const worker = { name: 'one', place: NOWHERE, slots: 10, leaseTtlMs: LEASE_MS, pollMs: 250, drainMs: 60_000 }
  const engine = engineOf({ ledger, clock, ids, source: { name: 'test', functions: [code.old] }, worker })
  held.engine = engine
  await engine.start()
  const started = engine.startRun('work', null)
  await clock.advance(90_000)
  const [record] = await inner.load([await started])
  const facts = (record?.facts ?? []).map(readRunFact)
  const order = facts.flatMap((fact) =>
    fact.type === 'run.handed_over' ? fact.type : fact.type === 'step.completed' ? fact.step : [],
  )
  expect(order).toEqual(['old 1', 'run.handed_over', 'new 1', 'new 2'])
  const stopped = engine.stop()
  await clock.advance(0)
  await stopped
})
