/** The leases of one worker on a real in-memory ledger that fails where a test plans it. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { Commit } from '#engine/core/commit.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { RunId, WorkerId } from '#model/kernel/ids.ts'
import { plainSeals } from '#model/kernel/seal.ts'
import { type FaultPlan, faultyLedger } from '#testing/faulty-ledger.ts'
import { aCreation, anAppend, newRun, newWorker } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { Leases } from './leases.ts'

const TTL_MS = 15_000

const start = (plan: FaultPlan = () => null) => {
  const store = new MemoryStore()
  const clock = new VirtualClock(2_000_000_000_000)
  let drawn = 0
  const digest = (text: string): string => text
  const uuid = (): string => (++drawn).toString(16).padStart(32, '0')
  const ids = { uuid, roll: () => 0.5, digest, ...plainSeals(digest) }
  const ledger = faultyLedger(new MemoryLedger(store), plan)
  const commit = new Commit({ ledger, clock, ids }, { maxBatch: 8, maxInFlight: 1 })
  const context = { clock, ids, commit, appendId: () => `append-${++drawn}` } as unknown as EngineContext
  const name = newWorker()
  const needed = new Set<WorkerId>()
  const deps = {
    context: () => context,
    ledger,
    isUsed: () => false,
    isAlone: false,
    isNeeded: (one: WorkerId) => needed.has(one),
  }
  return { store, clock, name, needed, leases: new Leases(deps, name, TTL_MS) }
}

type System = ReturnType<typeof start>

const bornAt = async ({ store }: System, lease: WorkerId): Promise<RunId> => {
  const run = newRun()
  await new MemoryLedger(store).append([anAppend({ writes: [aCreation(run, { lease })] })])
  return run
}

const leaseOf = ({ store }: System, run: RunId): WorkerId | null => store.streams.get(run)?.lease ?? null

const beat = async ({ leases, clock }: System): Promise<void> => {
  const beating = leases.beat().catch(() => 0)
  await clock.advance(1_000)
  await beating
}

test('leases-1: the lease of a run that was let go is given back, even if the store is unavailable at first', async () => {
  let isAway = true
  const system = start(({ method }) => (isAway && method !== 'beat' ? 'fail_before' : null))
  const run = await bornAt(system, system.name)
  system.leases.letGo(run)
  await beat(system)
  expect(leaseOf(system, run)).toBe(system.name)
  isAway = false
  await beat(system)
  expect(leaseOf(system, run)).toBeNull()
  expect(system.store.streams.get(run)?.wakeAt).toBeGreaterThan(system.clock.now())
})

test('the lease of a run that another worker holds is not given back', async () => {
  const system = start()
  const other = newWorker()
  const run = await bornAt(system, other)
  system.leases.letGo(run)
  await system.clock.advance(0)
  expect(leaseOf(system, run)).toBe(other)
})

test('leases-2: after a claim without an answer the worker takes a new name; the old name is retired with its leases', async () => {
  const system = start()
  const run = await bornAt(system, system.name)
  await beat(system)
  system.needed.add(system.name)
  system.leases.distrust()
  await beat(system)
  expect(system.leases.name).not.toBe(system.name)
  // A run in memory still needs the old name: its leases must stay.
  expect(system.store.workers.has(system.name)).toBe(true)
  expect(leaseOf(system, run)).toBe(system.name)
  system.needed.clear()
  await beat(system)
  expect(leaseOf(system, run)).toBeNull()
  expect(system.store.workers.has(system.name)).toBe(false)
})

test('leases-2: the worker uses a new name only after its first heartbeat is in the ledger', async () => {
  let isAway = true
  const system = start(({ method }) => (isAway && method === 'beat' ? 'fail_before' : null))
  system.leases.distrust()
  await beat(system)
  expect(system.leases.name).toBe(system.name)
  isAway = false
  await beat(system)
  expect(system.leases.name).not.toBe(system.name)
  const run = await bornAt(system, system.leases.name)
  // Another worker frees the leases of all silent workers.
  await new MemoryLedger(system.store).beat({ worker: newWorker(), now: system.clock.now(), ttlMs: TTL_MS })
  expect(leaseOf(system, run)).toBe(system.leases.name)
})
