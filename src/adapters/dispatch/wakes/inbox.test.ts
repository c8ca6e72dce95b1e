/** Wakes that arrive: never early, never after the stop, one call for many deliveries. */
import { describe, expect, test } from 'vitest'
import type { ClaimableId } from '#model/kernel/ids.ts'
import { newRun, START } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { Inbox } from './inbox.ts'

const open = () => {
  const clock = new VirtualClock(START)
  const inbox = new Inbox(clock)
  const woken: (readonly [ClaimableId, number])[] = []
  inbox.open((run) => woken.push([run, clock.now() - START]))
  return { clock, inbox, woken }
}

describe('inbox of wakes', () => {
  test('a wake that is delivered five times in one turn calls the handler once', async () => {
    const { clock, inbox, woken } = open()
    const run = newRun()
    for (let i = 0; i < 5; i++) inbox.take(run, START)
    await clock.runUntilIdle()
    expect(woken).toEqual([[run, 0]])
  })

  test('[R9] a wake that is early by the local clock waits for its instant', async () => {
    const { clock, inbox, woken } = open()
    const run = newRun()
    inbox.take(run, START + 30)
    inbox.take(run, START + 30)
    await clock.advance(29)
    expect(woken).toEqual([])
    await clock.advance(1)
    expect(woken).toEqual([[run, 30]])
  })

  test('dispatcher-2: a wake that is still pending at the close never reaches the handler', async () => {
    const { clock, inbox, woken } = open()
    inbox.take(newRun(), START)
    inbox.take(newRun(), START + 5)
    inbox.close()
    inbox.take(newRun(), START)
    await clock.advance(10)
    expect(woken).toEqual([])
    expect(clock.pending()).toEqual([])
  })
})
