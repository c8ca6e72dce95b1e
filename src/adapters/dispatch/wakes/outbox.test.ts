/** Wakes on their way out: batched by turn, bounded in number and in flight, and their failures never reach the caller. */
import { describe, expect, test } from 'vitest'
import type { ClaimableId } from '#model/kernel/ids.ts'
import { newRun, START } from '#testing/ledger/builders.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { Outbox, type Wake } from './outbox.ts'

const open = (answer: () => Promise<void> = async () => {}) => {
  const clock = new VirtualClock(START)
  const batches: (readonly Wake[])[] = []
  const outbox = new Outbox({
    clock,
    send: (wakes) => {
      batches.push(wakes)
      return answer()
    },
  })
  return { clock, outbox, batches }
}

describe('outbox of wakes', () => {
  test('all wakes of one turn are sent together, after the turn', async () => {
    const { clock, outbox, batches } = open()
    const runs = [newRun(), newRun(), newRun()]
    for (const run of runs) outbox.add(run, START)
    expect(batches).toEqual([])
    await clock.runUntilIdle()
    expect(batches).toEqual([runs.map((run) => ({ run, at: START }))])
  })

  test('a run has one pending wake, the earliest', async () => {
    const { clock, outbox, batches } = open()
    const run = newRun()
    for (const at of [START + 5, START + 2, START + 9]) outbox.add(run, at)
    await clock.runUntilIdle()
    expect(batches).toEqual([[{ run, at: START + 2 }]])
  })

  test('while four batches are in flight, further wakes are queued and batched', async () => {
    const answers: (() => void)[] = []
    const { clock, outbox, batches } = open(() => new Promise((resolve) => answers.push(resolve)))
    for (let i = 0; i < 6; i++) {
      outbox.add(newRun(), START)
      await clock.runUntilIdle()
    }
    expect(batches.map((batch) => batch.length)).toEqual([1, 1, 1, 1])
    for (const answer of answers.splice(0)) answer()
    await clock.runUntilIdle()
    await outbox.flush(0)
    expect(batches.map((batch) => batch.length)).toEqual([1, 1, 1, 1, 2])
  })

  test('a batch that cannot be sent is lost, and the next one is sent', async () => {
    let failures = 0
    const { clock, outbox, batches } = open(async () => {
      if (failures++ === 0) throw new Error('away')
    })
    outbox.add(newRun(), START)
    await clock.runUntilIdle()
    const run = newRun()
    outbox.add(run, START)
    await clock.runUntilIdle()
    expect(batches.at(-1)).toEqual([{ run, at: START }])
  })

  test('more than ten thousand wakes are not queued, and no batch is larger than 256', async () => {
    const { outbox, batches } = open()
    const runs: ClaimableId[] = Array.from({ length: 10_100 }, newRun)
    for (const run of runs) outbox.add(run, START)
    await outbox.flush(10_000)
    expect(batches.flat()).toHaveLength(10_000)
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(256)
  })

  test('a flush gives up after its timeout', async () => {
    const { outbox } = open(() => new Promise(() => {}))
    outbox.add(newRun(), START)
    await outbox.flush(1)
  })
})
