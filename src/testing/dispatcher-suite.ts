/**
 * The conformance suite for every Dispatcher.
 *
 * A dispatcher may lose wakes, so the suite asks again while it waits, as the worker's sweep does; but it may never call too early
 * or too late: not before the instant, and not after `stop`.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { newRun } from '#testing/ledger/builders.ts'

export interface DispatcherUnderTest {
  readonly dispatcher: Dispatcher
  readonly clock: Pick<Clock, 'now'>
  /** Lets time pass and work be done until this is true; throws if it never is. */
  until(holds: () => boolean): Promise<void>
  close(): Promise<void>
}

/** Defines the tests that every implementation of the port `Dispatcher` passes. */
export const dispatcherSuite = (name: string, open: () => Promise<DispatcherUnderTest>): void => {
  describe(`dispatcher: ${name}`, () => {
    let current: DispatcherUnderTest
    let woken: { readonly run: ClaimableId; readonly at: Instant }[]
    beforeEach(async () => {
      current = await open()
      woken = []
    })
    afterEach(async () => {
      await current.dispatcher.stop()
      await current.close()
    })

    const note = (run: ClaimableId): void => {
      woken.push({ run, at: current.clock.now() })
    }
    const isWoken = (run: ClaimableId): boolean => woken.some((wake) => wake.run === run)
    const wakeUntil = (...wakes: readonly (readonly [ClaimableId, Instant])[]): Promise<void> =>
      current.until(() => {
        const missing = wakes.filter(([run]) => !isWoken(run))
        for (const [run, at] of missing) current.dispatcher.wake(run, at)
        return missing.length === 0
      })

    test('dispatcher-1: a wake for now calls the handler with that run', async () => {
      const run = newRun()
      await current.dispatcher.start(note)
      await wakeUntil([run, current.clock.now()])
      expect(woken.every((wake) => wake.run === run)).toBe(true)
    })

    test('a wake for a past instant is a wake for now', async () => {
      const run = newRun()
      await current.dispatcher.start(note)
      await wakeUntil([run, current.clock.now() - 100_000])
    })

    test('[R9] a wake for later does not arrive before its instant', async () => {
      const [run, other] = [newRun(), newRun()]
      await current.dispatcher.start(note)
      const now = current.clock.now()
      await wakeUntil([run, now + 40], [other, now + 20])
      const early = woken.filter(({ run: one, at }) => at < now + (one === run ? 40 : 20))
      expect(early).toEqual([])
    })

    test('an earlier wake of the same run is not delayed by a later one', async () => {
      const [run, far] = [newRun(), current.clock.now() + 3_600_000]
      await current.dispatcher.start(note)
      current.dispatcher.wake(run, far)
      await wakeUntil([run, current.clock.now()])
      expect(woken[0]?.at).toBeLessThan(far)
    })

    test('many runs are all woken', async () => {
      const runs = Array.from({ length: 100 }, newRun)
      await current.dispatcher.start(note)
      const now = current.clock.now()
      await wakeUntil(...runs.map((run, i) => [run, now + (i % 7)] as const))
    })

    test('a handler may wake a run again', async () => {
      const [run, next] = [newRun(), newRun()]
      await current.dispatcher.start((one) => {
        note(one)
        if (one === run) current.dispatcher.wake(next, current.clock.now())
      })
      await wakeUntil([run, current.clock.now()])
      await wakeUntil([next, current.clock.now()])
    })

    test('a wake before the start is kept or lost, never called early', async () => {
      const run = newRun()
      current.dispatcher.wake(run, current.clock.now())
      expect(woken).toEqual([])
      await current.dispatcher.start(note)
      await wakeUntil([run, current.clock.now()])
    })

    test('dispatcher-2: after stop the handler is never called', async () => {
      const run = newRun()
      await current.dispatcher.start(note)
      await wakeUntil([run, current.clock.now()])
      current.dispatcher.wake(newRun(), current.clock.now())
      current.dispatcher.wake(newRun(), current.clock.now() + 20)
      await current.dispatcher.stop()
      const before = woken.length
      current.dispatcher.wake(newRun(), current.clock.now())
      const end = current.clock.now() + 50
      await current.until(() => current.clock.now() >= end)
      expect(woken).toHaveLength(before)
    })

    test('dispatcher-2: stop before the start, stop twice, and start twice have no bad effect', async () => {
      await current.dispatcher.stop()
      await current.dispatcher.start(note)
      await current.dispatcher.start(note)
      const run = newRun()
      await wakeUntil([run, current.clock.now()])
      await current.dispatcher.stop()
      await current.dispatcher.stop()
    })
  })
}
