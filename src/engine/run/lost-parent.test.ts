/**
 * A worker that dies between the two appends of a call through a gate: the gate's, which begins the child, and the parent's, which records it.
 * Two engines on one ledger in memory; one is dead from the moment in which its parent would record the child.
 */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { engineOf } from '#test/support/engine.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const LEASE_MS = 15_000

const open = (store: MemoryStore, clock: VirtualClock, onParentEnd?: 'detach', isMortal = false) => {
  const call = onParentEnd === undefined ? {} : { onParentEnd }
  const functions = [
    fn('parent', {}, ({ step }) => step.invoke('call', 'child', null, call)),
    fn('child', { throttle: { limit: 9, period: '1s' } }, async ({ step }) => {
      await step.sleep('work', '1h')
      return 'done'
    }),
  ]
  const ledger = new MemoryLedger(store)
  const reader = new MemoryReader(store)
  const children: MemoryReader['children'] = (...asked) => reader.children(...asked)
  let isDead = false
  const dying: Ledger = {
    ...{ load: (...asked) => ledger.load(...asked), events: (query) => ledger.events(query) },
    ...{ claim: (request) => ledger.claim(request), beat: (request) => ledger.beat(request) },
    ...{ retire: (...asked) => ledger.retire(...asked), close: () => ledger.close() },
    append: (batch) => {
      const facts = batch.flatMap(({ writes }) => writes.flatMap((write) => write.facts))
      isDead ||= facts.some(({ type }) => type === 'child.started')
      return isDead ? new Promise(() => {}) : ledger.append(batch)
    },
  }
  const worker = { leaseTtlMs: LEASE_MS, sweepMs: 1_000, pollMs: 1_000 }
  return engineOf({
    ledger: isMortal ? dying : ledger,
    clock,
    source: { name: 'family', functions },
    worker,
    deps: { children },
  })
}

const runsOf = (store: MemoryStore, handler: string) =>
  new MemoryReader(store).runs({ tenant: LOCAL_TENANT, handler, status: null, before: null, limit: 9 })

/** The worker is dead; its parent has begun a child that it has not recorded. */
const lose = async (onParentEnd?: 'detach') => {
  const store = new MemoryStore()
  const [dead, alive] = [new VirtualClock(1_000_000), new VirtualClock(1_000_000)]
  const one = open(store, dead, onParentEnd, true)
  const two = open(store, alive, onParentEnd)
  void one.start()
  await dead.advance(0)
  const starting = one.startRun('parent', null)
  await dead.advance(0)
  const parent = await starting
  void two.start()
  await alive.advance(0)
  const ask = async (work: Promise<unknown>): Promise<void> => {
    await alive.advance(0)
    await work
  }
  const statuses = async (): Promise<readonly (string | undefined)[]> => {
    const [child, another] = await runsOf(store, 'child')
    expect(another).toBeUndefined()
    const [of] = await runsOf(store, 'parent')
    return [of?.status, child?.status]
  }
  return { two, alive, parent, ask, statuses }
}

const cancelled = async (onParentEnd?: 'detach') => {
  const { two, alive, parent, ask, statuses } = await lose(onParentEnd)
  expect(await statuses()).toEqual(['running', 'running'])
  await ask(two.cancel(parent, 'ana', 'not needed'))
  await alive.advance(3 * LEASE_MS)
  return statuses()
}

test('parent-end-2: a child that a dead worker did not record ends with its cancelled parent (14.1.5)', async () => {
  expect(await cancelled()).toEqual(['cancelled', 'cancelled'])
})

test('parent-end-2: a detached child that a dead worker did not record continues after its parent is cancelled (14.1.5)', async () => {
  expect(await cancelled('detach')).toEqual(['cancelled', 'waiting'])
})

test('a parent continues with the child that its dead worker did not record (14.1.5)', async () => {
  const { alive, statuses } = await lose()
  await alive.advance(3 * LEASE_MS)
  expect(await statuses()).toEqual(['waiting', 'waiting'])
  await alive.advance(3_600_000)
  expect(await statuses()).toEqual(['success', 'success'])
})
