/** The in-process dispatcher against the suite, with a virtual clock, and its own guarantees beyond the port. */
import { describe, expect, test } from 'vitest'
import type { ClaimableId } from '#model/kernel/ids.ts'
import { dispatcherSuite } from '#testing/dispatcher-suite.ts'
import { newRun, START } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { InProcessDispatcher } from './dispatcher.ts'

const MAX_STEPS = 1000

const open = () => {
  const clock = new VirtualClock(START)
  return { clock, dispatcher: new InProcessDispatcher(clock) }
}

dispatcherSuite('in process', async () => {
  const { clock, dispatcher } = open()
  const until = async (holds: () => boolean): Promise<void> => {
    for (let step = 0; step < MAX_STEPS; step++) {
      if (holds()) return
      await clock.advance(1)
    }
    throw new Error(`not reached in ${MAX_STEPS} ms`)
  }
  return { dispatcher, clock, until, close: async () => {} }
})

describe('dispatcher in process', () => {
  const start = async () => {
    const opened = open()
    const woken: string[] = []
    await opened.dispatcher.start((run) => woken.push(`${run}@${opened.clock.now() - START}`))
    return { ...opened, woken }
  }

  test('runs are woken in order of their instants, then in order of the calls', async () => {
    const { clock, dispatcher, woken } = await start()
    const [a, b, c, d] = [newRun(), newRun(), newRun(), newRun()]
    for (const [run, inMs] of [
      [c, 20],
      [a, 10],
      [d, 20],
      [b, 10],
    ] as const)
      dispatcher.wake(run, START + inMs)
    await clock.runUntilIdle()
    expect(woken).toEqual([`${a}@10`, `${b}@10`, `${c}@20`, `${d}@20`])
  })

  test('a run has one pending wake, the earliest', async () => {
    const { clock, dispatcher, woken } = await start()
    const run = newRun()
    for (const inMs of [50, 30, 70, 40]) dispatcher.wake(run, START + inMs)
    await clock.runUntilIdle()
    expect(woken).toEqual([`${run}@30`])
  })

  test('a run that was woken can be woken again', async () => {
    const { clock, dispatcher, woken } = await start()
    const run = newRun()
    dispatcher.wake(run, START + 10)
    await clock.advance(10)
    dispatcher.wake(run, START + 15)
    await clock.advance(10)
    expect(woken).toEqual([`${run}@10`, `${run}@15`])
  })

  test('there is one timer, however many runs wait', async () => {
    const { clock, dispatcher } = await start()
    for (let i = 0; i < 1000; i++) dispatcher.wake(newRun(), START + 1000 - i)
    expect(clock.pending()).toHaveLength(1)
    await clock.advance(500)
    expect(clock.pending()).toHaveLength(1)
    await dispatcher.stop()
    expect(clock.pending()).toEqual([])
  })

  test('a handler that wakes its run at once does not block the loop', async () => {
    const { clock, dispatcher } = open()
    let calls = 0
    await dispatcher.start((run: ClaimableId) => {
      calls += 1
      if (calls < 5) dispatcher.wake(run, clock.now())
    })
    dispatcher.wake(newRun(), START)
    await clock.fire(0)
    expect(calls).toBe(1)
    await clock.runUntilIdle()
    expect(calls).toBe(5)
  })

  test('a handler that throws does not stop later wakes', async () => {
    const { clock, dispatcher } = open()
    const woken: ClaimableId[] = []
    await dispatcher.start((run) => {
      woken.push(run)
      if (woken.length === 1) throw new Error('the first one fails')
    })
    const [first, second] = [newRun(), newRun()]
    dispatcher.wake(first, START + 1)
    dispatcher.wake(second, START + 2)
    await expect(clock.advance(5)).rejects.toThrow('the first one fails')
    await clock.advance(5)
    expect(woken).toEqual([first, second])
  })

  test('wakes that are added while stopped are kept for the next start', async () => {
    const { clock, dispatcher } = open()
    const woken: ClaimableId[] = []
    const run = newRun()
    dispatcher.wake(run, START + 5)
    expect(clock.pending()).toEqual([])
    await dispatcher.start((one) => woken.push(one))
    await clock.advance(5)
    expect(woken).toEqual([run])
  })
})
