/** Retries while the store is in trouble, on a virtual clock. */
import { expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { retryStore } from './store-retry.ts'

const ids = { roll: () => 1 }
const away = (): TrihandError => new TrihandError('LEDGER_UNAVAILABLE', 'the store is away')

test('store-retry-1: work that fails because of the store is retried until the work itself gives an answer', async () => {
  const clock = new VirtualClock()
  let tries = 0
  const work = async (): Promise<string> => {
    if (++tries < 5) throw away()
    return 'done'
  }
  const answer = retryStore({ clock, ids }, () => true, work)
  await clock.runUntilIdle()
  expect(await answer).toBe('done')
  expect(clock.now()).toBe(50 + 100 + 200 + 400)
})

test('a failure of the work itself is not retried', async () => {
  const clock = new VirtualClock()
  const broken = new TrihandError('EVENT_UNKNOWN', 'no such event')
  await expect(
    retryStore(
      { clock, ids },
      () => true,
      () => Promise.reject(broken),
    ),
  ).rejects.toBe(broken)
})

test('work whose answer is no longer wanted stops and never settles', async () => {
  const clock = new VirtualClock()
  let isSettled = false
  const settle = (): void => {
    isSettled = true
  }
  void retryStore(
    { clock, ids },
    () => false,
    () => Promise.reject(away()),
  ).then(settle, settle)
  await clock.runUntilIdle()
  expect(isSettled).toBe(false)
})
