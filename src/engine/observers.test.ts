/** Those who count: told of everything, and in nobody's way. */
import { expect, test } from 'vitest'
import { MemoryLedger } from '../adapters/memory/ledger.ts'
import { MemoryStore } from '../adapters/memory/store.ts'
import { aCreation, anAppend, newRun, newWorker, START } from '../testing/ledger/builders.ts'
import { type Observer, Observers } from './observers.ts'

const NOTHING: Observer = { appended: () => {}, ranOn: () => {}, wrote: () => {}, recovered: () => {} }

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
  observers.tell((observer) => observer.ranOn('pack', []))
  forget()
  observers.tell((observer) => observer.ranOn('send', []))
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
  const births = [newRun(), newRun()].map((run) => aCreation(run, { lease: silent }, { wakeAt: null }))
  await ledger.append([anAppend({ writes: births })])
  expect(await around.beat({ worker: alive, now: START + 500, ttlMs: 1_000 })).toBe(0)
  expect(await around.beat({ worker: alive, now: START + 5_000, ttlMs: 1_000 })).toBe(2)
  expect(freed).toEqual([2])
})
