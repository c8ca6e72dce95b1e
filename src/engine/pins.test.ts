/** Two versions of one system side by side on one ledger in memory: which of them goes on with a run. */
import { expect, test } from 'vitest'
import { engineOf } from '../../test/support/engine.ts'
import { MemoryBlobs } from '../adapters/memory/blobs.ts'
import { MemoryLedger } from '../adapters/memory/ledger.ts'
import { MemoryReader } from '../adapters/memory/reader.ts'
import { MemoryStore } from '../adapters/memory/store.ts'
import { SystemIds } from '../adapters/system/ids.ts'
import { fn } from '../executors/workflow/function.ts'
import { mayTake, NO_VERSION, pinAfter } from '../model/pin.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import type { Engine } from './engine.ts'

const LEASE_MS = 3_000
const NOWHERE = { pool: null, labels: {}, modules: null }

const aFleet = () => {
  const [store, clock, ids, blobs] = [
    new MemoryStore(),
    new VirtualClock(1_000_000),
    new SystemIds(),
    new MemoryBlobs(),
  ]
  const reader = new MemoryReader(store)
  const done: string[] = []
  const oldCode = fn('work', {}, async ({ step }) => {
    for (const round of [1, 2, 3, 4]) {
      await step.run(`old ${round}`, () => void done.push('old'))
      await step.sleep(`pause ${round}`, '1m')
    }
  })
  const newCode = fn('work', {}, async ({ step }) => {
    for (const round of [1, 2, 3, 4]) {
      await step.run(`new ${round}`, () => void done.push('new'))
      await step.sleep(`pause ${round}`, '1m')
    }
  })
  const join = async (version: 'old' | 'new'): Promise<Engine> => {
    const engine = engineOf({
      ledger: new MemoryLedger(store),
      clock,
      ids,
      source: { name: 'test', functions: [version === 'old' ? oldCode : newCode] },
      worker: { name: version, place: NOWHERE, slots: 10, leaseTtlMs: LEASE_MS, pollMs: 250, drainMs: 60_000 },
      deps: { blobs, workers: (query) => reader.workers(query) },
    })
    await engine.start()
    await clock.advance(0)
    return engine
  }
  return { clock, join, done }
}

test('[N5] pin-2: with two versions side by side a run stays on the version that it began with (13.2.2)', async () => {
  const { clock, join, done } = aFleet()
  const old = await join('old')
  const started = old.startRun('work', null)
  await clock.advance(0)
  await started
  const fresh = await join('new')
  await clock.advance(600_000)
  expect(done).toEqual(['old', 'old', 'old', 'old'])
  const stopped = [old.stop(), fresh.stop()]
  await clock.advance(0)
  await Promise.all(stopped)
})

test('[N5] pin-2: when the last worker of its version leaves, a run is handed over once and goes on (13.2.2)', async () => {
  const { clock, join, done } = aFleet()
  const old = await join('old')
  const started = old.startRun('work', null)
  await clock.advance(0)
  await started
  const fresh = await join('new')
  await clock.advance(30_000)
  const left = old.stop()
  await clock.advance(0)
  await left
  await clock.advance(600_000)
  expect(done).toEqual(['old', 'new', 'new', 'new', 'new'])
  const stopped = fresh.stop()
  await clock.advance(0)
  await stopped
})

test('pin-1, pin-3: a handler that is not on the list is never taken over', () => {
  const run = { handler: 'mail', version: 'v1', wakeAt: 0 }
  const world = { now: 1e12, living: [] }
  expect(mayTake(run, { version: 'v2', takesOver: [] }, world)).toBe(false)
  expect(mayTake(run, { version: 'v2' }, world)).toBe(false)
  expect(mayTake(run, { version: 'v1' }, world)).toBe(true)
})

test('pin-4: a run without a version is taken by every worker that has its handler, and stays free where that is asked for', () => {
  const run = { handler: 'mail', version: NO_VERSION, wakeAt: 0 }
  const takesOver = [{ handler: 'mail', afterMs: 1e9, isFree: true }]
  expect(mayTake(run, { version: 'v2', takesOver }, { now: 0, living: [] })).toBe(true)
  expect(pinAfter(NO_VERSION, 'v2', true)).toBe(NO_VERSION)
  expect(pinAfter(NO_VERSION, 'v2', false)).toBe('v2')
  expect(pinAfter('v1', 'v2', true)).toBe('v2')
})
