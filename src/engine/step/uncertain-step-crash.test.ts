/** A process dies before or after any of its appends around an uncertain effect: people are asked once, and their decision acts once. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { TaskSummary } from '#ports/reader.ts'
import { engineOf } from '#test/support/engine.ts'
import { carefully } from '#test/support/step-answer.ts'
import { person } from '#test/support/stories/task-story.ts'
import { type Fault, faultyLedger } from '#testing/faulty-ledger.ts'
import { newWorker } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

type Death = { readonly at: number; readonly fault: Fault } | null

const all = { tenant: LOCAL_TENANT, handler: null, status: null, before: null, limit: 9 } as const

const tasksOf = (store: MemoryStore, isOpen: boolean): Promise<readonly TaskSummary[]> =>
  new MemoryReader(store).tasks({
    ...{ tenant: LOCAL_TENANT, isOpen, addresses: null, viewer: null, status: null, type: null, claimedBy: null },
    ...{ run: null, order: 'oldest', after: null, limit: 9 },
  })

/** One life of a process: starts the run if there is none, decides that uncertain steps happened. Returns the number of appends. */
const live = async (store: MemoryStore, effects: string[], death: Death): Promise<number> => {
  const clock = new VirtualClock(1_000_000)
  const inner = new MemoryLedger(store)
  // The worker of the life before is dead.
  await inner.beat({ worker: newWorker(), now: clock.now(), ttlMs: -1 })
  const plan = ({ method, index }: { method: string; index: number }): Fault | null =>
    death !== null && method === 'append' && index === death.at ? death.fault : null
  const pay = ({ effectKey }: { readonly effectKey: string }): Promise<never> => {
    effects.push(effectKey)
    return Promise.reject(new Error('the answer is lost'))
  }
  const order = fn('order', {}, ({ step }) => step.run('pay', pay, { effect: 'once' }))
  const ledger = faultyLedger(inner, plan)
  const source = { name: 'test', functions: [order] }
  const engine = engineOf({ ledger, clock, source, worker: { isAlone: true } })
  const turn = async (work: () => Promise<unknown>): Promise<void> => {
    void work().catch(() => {})
    for (let i = 0; i < 60; i++) await clock.advance(0)
  }
  await turn(() => engine.start())
  if ((await new MemoryReader(store).runs(all)).length === 0) await turn(() => engine.startRun('order', null))
  for (const { id } of await tasksOf(store, true))
    await turn(async () => {
      const { state } = await engine.tasks.show(id)
      const word = { action: 'it_happened', fields: { result: 'paid' }, ...carefully(state, 'it_happened') }
      await engine.tasks.submit(id, person('ana', 'operators'), word)
    })
  return ledger.calls.append
}

test('[R6][V10] uncertain-step-1: a crash at any append leaves exactly one task and one decision on the uncertain step', async () => {
  const whole = await live(new MemoryStore(), [], null)
  expect(whole).toBeGreaterThan(4)
  for (let at = 0; at < whole; at++)
    for (const fault of ['crash_before', 'crash_after'] as const) {
      const store = new MemoryStore()
      const effects: string[] = []
      await live(store, effects, { at, fault })
      await live(store, effects, null)
      const runs = await new MemoryReader(store).runs(all)
      const closed = await tasksOf(store, false)
      const story = {
        runs: runs.map(({ status }) => status),
        closed: closed.map(({ status }) => status),
        open: (await tasksOf(store, true)).length,
        effects: effects.length < 2,
      }
      expect({ at, fault, ...story }).toEqual({
        at,
        fault,
        runs: ['success'],
        closed: ['completed'],
        open: 0,
        effects: true,
      })
    }
})
