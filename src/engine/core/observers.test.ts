/** Observers are notified of what happens, and never disturb it. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import { fn } from '#executors/workflow/function.ts'
import { engineOf } from '#test/support/engine.ts'
import { aCreation, anAppend, newRun, newWorker, START } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { type Observer, Observers } from './observers.ts'

const MINUTE = 60_000
const nothing = (): void => {}
const NOTHING: Observer = {
  ...{ appended: nothing, ranOn: nothing, wrote: nothing, refused: nothing },
  ...{ performed: nothing, woke: nothing, recovered: nothing, failed: nothing },
}

test('an observer that throws stops neither the other observers nor the work', () => {
  const observers = new Observers()
  const heard: string[] = []
  observers.add({
    ...NOTHING,
    ranOn: () => {
      throw new Error('full')
    },
  })
  const forget = observers.add({ ...NOTHING, ranOn: (handler) => heard.push(handler) })
  observers.tell((observer) => observer.ranOn('pack', [], newRun()))
  forget()
  observers.tell((observer) => observer.ranOn('send', [], newRun()))
  expect(heard).toEqual(['pack'])
})

test('observers learn how many leases of silent workers a heartbeat has freed', async () => {
  const ledger = new MemoryLedger(new MemoryStore())
  const observers = new Observers()
  const freed: number[] = []
  observers.add({ ...NOTHING, recovered: (leases) => freed.push(leases) })
  const around = observers.around(ledger)
  const [silent, alive] = [newWorker(), newWorker()]
  await around.beat({ worker: silent, now: START, ttlMs: 1_000 })
  const spawned = [newRun(), newRun()].map((run) => aCreation(run, { lease: silent }, { wakeAt: null }))
  await ledger.append([anAppend({ writes: spawned })])
  expect(await around.beat({ worker: alive, now: START + 500, ttlMs: 1_000 })).toBe(0)
  expect(await around.beat({ worker: alive, now: START + 5_000, ttlMs: 1_000 })).toBe(2)
  expect(freed).toEqual([2])
})

/** An engine whose worker takes two runs, one after the other or side by side. */
const working = async (slots: number) => {
  const clock = new VirtualClock(1_000)
  const functions = [
    fn('sleeper', {}, ({ step }) => step.sleep('nap', '1m')),
    fn('thinker', {}, async ({ step }) => {
      await step.run('think', () => new Promise((done) => void clock.at(clock.now() + 2 * MINUTE, () => done(1))))
      await step.run('give-up', () => Promise.reject(new Error('no')), { retry: { maxAttempts: 1 } })
    }),
  ]
  const source = { name: 'test', events: {}, functions }
  const engine = engineOf({ ledger: new MemoryLedger(new MemoryStore()), clock, source, worker: { slots } })
  const told = { performed: [] as unknown[], woke: [] as number[] }
  engine.observe({
    ...NOTHING,
    performed: (...what) => told.performed.push(what),
    woke: (lateMs) => told.woke.push(lateMs),
  })
  await engine.start()
  return { engine, clock, told }
}

test('observers are notified of each attempt of a step with its duration, and not of the handler around it', async () => {
  const { engine, clock, told } = await working(10)
  void engine.startRun('thinker', null)
  await clock.advance(4 * MINUTE)
  expect(told.performed).toEqual([
    ['thinker', true, 2 * MINUTE],
    ['thinker', false, 0],
  ])
})

test('observers learn how late a run that waited for an instant is woken', async () => {
  const { engine, clock, told } = await working(1)
  const sleeper = engine.startRun('sleeper', null)
  await clock.advance(MINUTE / 2)
  await sleeper
  // Holds the only slot for two minutes, from half a minute on.
  void engine.startRun('thinker', null)
  await clock.advance(4 * MINUTE)
  expect(told.woke).toEqual([1.5 * MINUTE])
})
