/** Two workers on one in-memory ledger whose runs share a throttle: actual starts are counted by the clock, not turns at the gate. */
import { expect, test } from 'vitest'
import { MemoryBlobs } from '#adapters/storage/memory/blobs.ts'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import type { Engine } from '#engine/core/engine.ts'
import { fn } from '#executors/workflow/function.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import { engineOf } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const LEASE_MS = 60_000
const PERIOD_MS = 1_000

/** While it stalls, appends are written but not answered. */
class StallingLedger extends MemoryLedger {
  private stall: Promise<void> | null = null
  private release: () => void = () => {}

  begin(): void {
    this.stall = new Promise((resolve) => {
      this.release = resolve
    })
  }

  end(): void {
    this.stall = null
    this.release()
  }

  override async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    const outcomes = await super.append(batch)
    await this.stall
    return outcomes
  }
}

/** Awaits work and advances the clock until it is done. */
const during = async <T>(clock: VirtualClock, work: Promise<T>): Promise<T> => {
  let isOver = false
  const done = work.finally(() => {
    isOver = true
  })
  done.catch(() => {})
  while (!isOver) await clock.advance(0)
  return done
}

const aContext = () => {
  const store = new MemoryStore()
  const clock = new VirtualClock(1_000_000)
  const reader = new MemoryReader(store)
  const ids = new SystemIds()
  const blobs = new MemoryBlobs()
  const starts: { readonly n: number; readonly at: number }[] = []
  const mail = fn<{ n: number }>('mail', { throttle: { limit: 1, period: PERIOD_MS } }, ({ input }) => {
    starts.push({ n: input.n, at: clock.now() })
    return null
  })
  const join = async (name: string, slots: number): Promise<{ engine: Engine; ledger: StallingLedger }> => {
    const ledger = new StallingLedger(store)
    const engine = engineOf({
      ...{ ledger, clock, ids, source: { name: 'test', functions: [mail], events: {} } },
      worker: { name, slots, leaseTtlMs: LEASE_MS, pollMs: 100, drainMs: 10 },
      deps: { blobs, document: (...asked) => reader.document(...asked), workers: (query) => reader.workers(query) },
    })
    await during(clock, engine.start())
    return { engine, ledger }
  }
  const call = async (engine: Engine, count: number): Promise<void> => {
    for (let n = 1; n <= count; n++) await during(clock, engine.startRun('mail', { n }))
  }
  const closest = (): number => {
    const instants = starts.map(({ at }) => at).sort((a, b) => a - b)
    return Math.min(...instants.slice(1).map((at, i) => at - (instants[i] ?? 0)))
  }
  return { clock, starts, join, call, closest }
}

test('starts-3: [H5] two workers with many runs due at once start them one at a time, and all runs begin (14.4.1)', async () => {
  const { clock, starts, join, call, closest } = aContext()
  const first = await join('first', 10)
  await call(first.engine, 20)
  const left = first.engine.stop()
  await clock.advance(30_000)
  await left
  const before = starts.length
  const [second, third] = [await join('second', 4), await join('third', 4)]
  await clock.advance(40_000)
  expect(before).toBeLessThan(3)
  expect(starts.map(({ n }) => n).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
  expect(closest()).toBeGreaterThanOrEqual(PERIOD_MS)
  await during(clock, Promise.all([second.engine.stop(), third.engine.stop()]))
})

test('starts-1: [H5] a worker that stalls between its granted start and the handler keeps the period to other starts (14.4.1)', async () => {
  const { clock, starts, join, call, closest } = aContext()
  const [first, second] = [await join('first', 1), await join('second', 1)]
  await call(first.engine, 6)
  await clock.advance(900)
  first.ledger.begin()
  await clock.advance(4_500)
  first.ledger.end()
  await clock.advance(20_000)
  expect(starts.map(({ n }) => n).sort()).toEqual([1, 2, 3, 4, 5, 6])
  expect(closest()).toBeGreaterThanOrEqual(PERIOD_MS)
  await during(clock, Promise.all([first.engine.stop(), second.engine.stop()]))
})
