/** A process dies before or after any of its appends around a task for a person: the next process asks once and acts once. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryReader } from '#adapters/storage/memory/reader.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Append, Ledger } from '#ports/ledger.ts'
import type { TaskSummary } from '#ports/reader.ts'
import type { Entry } from '#ports/step-port.ts'
import { engineOf } from '#test/support/engine.ts'
import { ana, aSpec } from '#test/support/stories/task-story.ts'
import { newWorker } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

type Death = { readonly at: number; readonly when: 'before' | 'after' } | null

const never = <T>(): Promise<T> => new Promise<T>(() => {})

/** A ledger that never answers once its process has died. `appends` counts the requested appends. */
const dying = (inner: MemoryLedger, death: Death, heart: { appends: number; dead: boolean }): Ledger => {
  const append = async (batch: readonly Append[]) => {
    const isLast = heart.appends++ === death?.at
    if (isLast && death?.when === 'before') heart.dead = true
    if (heart.dead) return never<never>()
    const outcomes = await inner.append(batch)
    if (isLast) heart.dead = true
    return heart.dead ? never<never>() : outcomes
  }
  const guarded =
    (name: keyof Ledger) =>
    (...values: unknown[]) =>
      heart.dead ? never() : (inner[name] as (...given: unknown[]) => unknown).call(inner, ...values)
  return new Proxy<Ledger>(inner, { get: (_, name: keyof Ledger) => (name === 'append' ? append : guarded(name)) })
}

const source = { name: 'test', functions: [fn('ask', {}, () => null)] }

/** One life of a process: starts the run if there is none, approves open tasks, until it dies. Returns the number of appends. */
const live = async (store: MemoryStore, effects: string[], death: Death): Promise<number> => {
  const clock = new VirtualClock(1_000_000)
  const heart = { appends: 0, dead: false }
  const enter = async ({ gate }: Entry): Promise<unknown> => {
    const { decision } = await gate.ask('review', { spec: aSpec() })
    const body = ({ effectKey }: { readonly effectKey: string }) => void effects.push(effectKey)
    const retry = { maxAttempts: 1, baseMs: 0, factor: 1, maxMs: 0 }
    await gate.run({ step: 'act', effect: 'idempotent', retry, timeoutMs: 1_000, body })
    return decision
  }
  const inner = new MemoryLedger(store)
  // The worker of the life before is dead.
  await inner.beat({ worker: newWorker(), now: clock.now(), ttlMs: -1 })
  const engine = engineOf({ ledger: dying(inner, death, heart), clock, source, deps: { enter } })
  const turn = async (work: () => Promise<unknown>): Promise<void> => {
    void work().catch(() => {})
    for (let i = 0; i < 50; i++) await clock.advance(0)
  }
  await turn(() => engine.start())
  const reader = new MemoryReader(store)
  const runs = { tenant: LOCAL_TENANT, status: null, handler: null, before: null, limit: 9 } as const
  if ((await reader.runs(runs)).length === 0) await turn(() => engine.startRun('ask', null))
  for (const { id } of await openTasks(store)) {
    await turn(async () => {
      const { state } = await engine.tasks.show(id)
      const shownHash = state.kind === 'open' ? state.hash : null
      await engine.tasks.submit(id, ana, { action: 'approve', shownHash })
    })
  }
  return heart.appends
}

const tasksOf = (store: MemoryStore, isOpen: boolean): Promise<readonly TaskSummary[]> =>
  new MemoryReader(store).tasks({
    ...{ tenant: LOCAL_TENANT, isOpen, addresses: null, viewer: null, status: null, type: null, claimedBy: null },
    ...{ run: null, order: 'oldest', after: null, limit: 9 },
  })
const openTasks = (store: MemoryStore): Promise<readonly TaskSummary[]> => tasksOf(store, true)

test('[C1] ask-1, task-append-2: after a crash at any append, people are asked once and their answer takes effect', async () => {
  const whole = await live(new MemoryStore(), [], null)
  expect(whole).toBeGreaterThan(3)
  for (let at = 0; at < whole; at++)
    for (const when of ['before', 'after'] as const) {
      const store = new MemoryStore()
      const effects: string[] = []
      await live(store, effects, { at, when })
      await live(store, effects, null)
      const [run, ...others] = await new MemoryReader(store).runs({
        ...{ tenant: LOCAL_TENANT, status: null, handler: null, before: null, limit: 9 },
      })
      const closed = await tasksOf(store, false)
      const story = { at, when, status: run?.status, others: others.length, tasks: closed.map(({ status }) => status) }
      expect(story).toEqual({ at, when, status: 'success', others: 0, tasks: ['approved'] })
      expect(await openTasks(store)).toEqual([])
      expect(new Set(effects).size).toBe(1)
    }
})
