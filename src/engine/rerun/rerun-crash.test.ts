/** A process that dies before or after any of its appends, around a rerun and a callback: one rerun, one notice, no finished step twice. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { callbackNotices } from '#executors/workflow/notices.ts'
import { CALLBACK } from '#manifest/define/callback.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import type { RunSummary } from '#ports/reader.ts'
import { engineOf } from '#test/support/engine.ts'
import { type Fault, faultyLedger } from '#testing/faulty-ledger.ts'
import { newWorker } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

type Death = { readonly at: number; readonly fault: Fault } | null

interface World {
  readonly store: MemoryStore
  /** Steps that were performed, and ids of notices that were delivered. */
  readonly did: string[]
}

const newWorld = (): World => ({ store: new MemoryStore(), did: [] })

const runsOf = ({ store }: World, handler: string): Promise<readonly RunSummary[]> =>
  new MemoryReader(store).runs({ tenant: LOCAL_TENANT, handler, status: null, before: null, limit: 9 })

/** One life of the process: the run with a callback, then its rerun, each if there is none yet. Returns how many appends it made. */
const live = async (world: World, death: Death): Promise<number> => {
  const { store, did } = world
  const clock = new VirtualClock(1_000_000)
  const inner = new MemoryLedger(store)
  // The worker of the life before is dead.
  await inner.beat({ worker: newWorker(), now: clock.now(), ttlMs: -1 })
  const plan = ({ method, index }: { method: string; index: number }): Fault | null =>
    death !== null && method === 'append' && index === death.at ? death.fault : null
  const work = fn('work', {}, async ({ step }) => {
    const a = await step.run('a', () => {
      did.push('a')
      return 'x'
    })
    return step.run('b', () => a)
  })
  const tell = callbackNotices(
    CALLBACK,
    async () => ({
      deliverNotice: async ({ id }) => {
        did.push(id)
        return { kind: 'delivered', detail: '200' }
      },
    }),
    () => 0.5,
  )
  const ledger = faultyLedger(inner, plan)
  const engine = engineOf({ ledger, clock, source: { name: 'test', functions: [work, tell] } })
  const turn = async (asked: () => Promise<unknown>): Promise<void> => {
    void asked().catch(() => {})
    for (let i = 0; i < 60; i++) await clock.advance(0)
  }
  await turn(() => engine.start())
  const callbackUrl = 'https://asker.test'
  if ((await runsOf(world, 'work')).length === 0) await turn(() => engine.startRun('work', null, { callbackUrl }))
  const [old, ...more] = await runsOf(world, 'work')
  if (old !== undefined && more.length === 0) await turn(() => engine.reruns.rerun(old.id, { from: 'b', by: 'ana' }))
  return ledger.calls.append
}

test('reruns-1 ending-2: after a crash at any append there is one rerun with all reused results, and the end was reported to the callback', async () => {
  const whole = await live(newWorld(), null)
  expect(whole).toBeGreaterThan(6)
  for (let at = 0; at < whole; at++)
    for (const fault of ['crash_before', 'crash_after'] as const) {
      const world = newWorld()
      await live(world, { at, fault })
      await live(world, null)
      const [again, old, ...more] = await runsOf(world, 'work')
      const told = world.did.filter((what): what is RunId => what !== 'a')
      const story = {
        work: [again?.status, old?.status, more.length],
        notices: (await runsOf(world, CALLBACK)).map(({ status }) => status),
        told: [...new Set(told)],
      }
      expect({ at, fault, ...story }).toEqual({
        at,
        fault,
        work: ['success', 'success', 0],
        notices: ['success'],
        told: [old?.id],
      })
      const facts = await new MemoryReader(world.store).facts(LOCAL_TENANT, again?.id as RunId, { after: 0, limit: 9 })
      expect(facts.map(({ type }) => type)).toEqual(['run.started', 'step.reused', 'step.completed', 'run.completed'])
    }
})
