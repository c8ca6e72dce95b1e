/** Those who count: told of everything, and in nobody's way. */
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

test('one that throws stops neither the others nor what is counted', () => {
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

test('leases of a silent worker that a beat frees are told, with their number', async () => {
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

test('each attempt of a step is told with how long it took; the code around it is none', async () => {
  const { engine, clock, told } = await working(10)
  void engine.startRun('thinker', null)
  await clock.advance(4 * MINUTE)
  expect(told.performed).toEqual([
    ['thinker', true, 2 * MINUTE],
    ['thinker', false, 0],
  ])
})

test('a run that waited for an instant is told with how late it was woken', async () => {
  const { engine, clock, told } = await working(1)
  const sleeper = engine.startRun('sleeper', null)
  await clock.advance(MINUTE / 2)
  await sleeper
  // Holds the only slot for two minutes, from half a minute on.
  void engine.startRun('thinker', null)
  await clock.advance(4 * MINUTE)
  expect(told.woke).toEqual([1.5 * MINUTE])
})
