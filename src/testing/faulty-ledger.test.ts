/** Each fault has the effect that its name says, checked at both ends: the caller's answer and the store behind. */
import { beforeEach, describe, expect, test } from 'vitest'
import { MemoryLedger } from '#adapters/storage/memory/ledger.ts'
import { MemoryStore } from '#adapters/storage/memory/store.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import { aCreation, anAppend, anEvent, aWrite, newRun, newWorker, START } from '#testing/ledger/builders.ts'
import { type Fault, type FaultyLedger, faultyLedger, type LedgerCall } from './faulty-ledger.ts'

let inner: Ledger
let run: RunId

beforeEach(async () => {
  inner = new MemoryLedger(new MemoryStore())
  run = newRun()
  await inner.append([anAppend({ writes: [aCreation(run, { lease: newWorker() })] })])
})

const failing = (fault: Fault): FaultyLedger =>
  faultyLedger(inner, ({ method }) => (method === 'append' ? fault : null))
const version = async (stream: RunId = run): Promise<number> => (await inner.load([stream]))[0]?.version ?? 0
const anAppendTo = (stream: RunId) => anAppend({ writes: [aWrite(stream)] })

/** True if the promise has settled after every promise that can continue has done so. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  const settle = (): void => {
    settled = true
  }
  promise.then(settle, settle)
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

describe('faulty ledger', () => {
  test('without faults it behaves like the ledger behind it', async () => {
    const ledger = faultyLedger(inner, () => null)
    expect(await ledger.append([anAppendTo(run)])).toMatchObject([{ kind: 'written' }])
    expect(await ledger.load([run])).toEqual(await inner.load([run]))
  })

  test('fail_before: nothing is written, and the outcome says so', async () => {
    await expect(failing('fail_before').append([anAppendTo(run)])).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      outcome: 'not_done',
    })
    expect(await version()).toBe(1)
  })

  test('done_then_fail: the append is written and its outcome is unknown; sent again it is already written', async () => {
    const append = anAppendTo(run)
    await expect(failing('done_then_fail').append([append])).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      outcome: 'unknown',
    })
    expect(await version()).toBe(2)
    expect(await inner.append([append])).toMatchObject([{ kind: 'already_written' }])
  })

  test.each([
    ['crash_before', 1],
    ['crash_after', 2],
  ] as const)('%s: neither the call nor any later one is answered', async (fault, expected) => {
    const ledger = failing(fault)
    expect(await isSettled(ledger.append([anAppendTo(run)]))).toBe(false)
    expect(await version()).toBe(expected)
    expect(await isSettled(ledger.load([run]))).toBe(false)
    expect(await isSettled(ledger.close())).toBe(false)
    expect(ledger.calls).toMatchObject({ append: 1, load: 0, close: 0 })
  })

  test('a crash drops the answer of a call that is still open', async () => {
    let answer: () => void = () => {}
    const slow: Ledger = {
      ...failing('crash_before'),
      load: () =>
        new Promise((resolve) => {
          answer = () => resolve([])
        }),
    }
    const ledger = faultyLedger(slow, ({ method }) => (method === 'append' ? 'crash_before' : null))
    const load = ledger.load([run])
    expect(await isSettled(ledger.append([]))).toBe(false)
    answer()
    expect(await isSettled(load)).toBe(false)
  })

  test('conflict: the first append to an existing stream loses, the others are written', async () => {
    const [other, created] = [newRun(), newRun()]
    await inner.append([anAppend({ writes: [aCreation(other, { lease: newWorker() })] })])
    const batch = [anAppend({ events: [anEvent()], writes: [aCreation(created)] }), anAppendTo(run), anAppendTo(other)]
    const outcomes = await failing('conflict').append(batch)
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['written', 'conflict', 'written'])
    expect(outcomes[1]).toEqual({ kind: 'conflict', reason: 'version', stream: run, version: 1, epoch: 1 })
    expect([await version(created), await version(run), await version(other)]).toEqual([1, 1, 2])
  })

  test('conflict: a batch that writes no existing stream is written', async () => {
    expect(await failing('conflict').append([anAppend({ events: [anEvent()] })])).toMatchObject([{ kind: 'written' }])
  })

  test('the plan sees every call, counted per method and in total', async () => {
    const seen: LedgerCall[] = []
    const ledger = faultyLedger(inner, (call) => {
      seen.push(call)
      return null
    })
    await ledger.load([run])
    await ledger.claim({ worker: newWorker(), now: START, limit: 1 })
    await ledger.load([run])
    await ledger.beat({ worker: newWorker(), now: START, ttlMs: 1 })
    await ledger.retire(newWorker(), START)
    await ledger.events({ tenant: 'local' as never, limit: 1 })
    await ledger.close()
    expect(seen.map(({ method, index, total }) => `${method} ${index} ${total}`)).toEqual([
      'load 0 0',
      'claim 0 1',
      'load 1 2',
      'beat 0 3',
      'retire 0 4',
      'events 0 5',
      'close 0 6',
    ])
    expect(ledger.calls).toEqual({ append: 0, load: 2, events: 1, claim: 1, beat: 1, retire: 1, close: 1 })
  })
})
