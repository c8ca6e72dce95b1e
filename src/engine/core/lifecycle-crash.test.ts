/** A process that dies before or after any of its appends: each lifecycle event is emitted once, and each listener starts once. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { engineOf } from '#test/support/engine.ts'
import { type Fault, faultyLedger } from '#testing/faulty-ledger.ts'
import { newWorker } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

type Death = { readonly at: number; readonly fault: Fault } | null

const source = (tries: { count: number }) => ({
  name: 'test',
  functions: [
    fn('work', {}, async ({ step }) => {
      const body = () => {
        if (tries.count++ === 0) throw new Error('not yet')
        return 'done'
      }
      return step.run('flaky', body, { retry: { maxAttempts: 9, baseMs: 0 } })
    }),
    fn(
      'diary',
      { triggers: ['workflow.started', 'workflow.retrying', 'workflow.completed'] },
      ({ event }) => event?.type,
    ),
  ],
})

const all = { tenant: LOCAL_TENANT, handler: null, status: null, before: null, limit: 99 } as const

/** One life of the process: starts the run if there is none. Returns how many appends it made. */
const live = async (store: MemoryStore, tries: { count: number }, death: Death): Promise<number> => {
  const clock = new VirtualClock(1_000_000)
  const inner = new MemoryLedger(store)
  // The worker of the life before is dead.
  await inner.beat({ worker: newWorker(), now: clock.now(), ttlMs: -1 })
  const plan = ({ method, index }: { method: string; index: number }): Fault | null =>
    death !== null && method === 'append' && index === death.at ? death.fault : null
  const ledger = faultyLedger(inner, plan)
  const engine = engineOf({ ledger, clock, source: source(tries) })
  const turn = async (work: () => Promise<unknown>): Promise<void> => {
    void work().catch(() => {})
    for (let i = 0; i < 60; i++) await clock.advance(0)
  }
  await turn(() => engine.start())
  if ((await new MemoryReader(store).runs(all)).length === 0) await turn(() => engine.startRun('work', null))
  return ledger.calls.append
}

test('[D3] lifecycle-2: whichever append a process dies at, each fact emits its lifecycle event once', async () => {
  const whole = await live(new MemoryStore(), { count: 0 }, null)
  expect(whole).toBeGreaterThan(3)
  for (let at = 0; at < whole; at++)
    for (const fault of ['crash_before', 'crash_after'] as const) {
      const store = new MemoryStore()
      const tries = { count: 0 }
      await live(store, tries, { at, fault })
      await live(store, tries, null)
      const reader = new MemoryReader(store)
      const events = await reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 99 })
      const told = events.map(({ type }) => type).sort()
      // A first attempt whose failure was not recorded does not count as retried.
      const retried = told.filter((type) => type === 'workflow.retrying')
      expect({ at, fault, told }).toEqual({ at, fault, told: ['workflow.completed', ...retried, 'workflow.started'] })
      expect(retried.length).toBeLessThan(2)
      const runs = await reader.runs(all)
      expect(runs.map(({ handler, status }) => `${handler} ${status}`).sort()).toEqual([
        ...told.map(() => 'diary success'),
        'work success',
      ])
    }
})
