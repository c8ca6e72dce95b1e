/** Calls for one key take turns: in order, in groups of bounded size, and also after work that failed. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '#testing/virtual-clock.ts'
import { CallGroups, pauseAfterConflict, TurnQueue } from './turn-queue.ts'

const CROWD = 10_000

describe('calls that take turns', () => {
  it('turn-queue-1: works on the calls for one key in their order, one at a time (14.2)', async () => {
    const queue = new TurnQueue<string>()
    const done: number[] = []
    let atWork = 0
    let most = 0
    const call = (n: number) =>
      queue.run('task', async () => {
        most = Math.max(most, ++atWork)
        await Promise.resolve()
        done.push(n)
        atWork--
        return n
      })
    const answers = await Promise.all(Array.from({ length: CROWD }, (_, n) => call(n)))
    expect(most).toBe(1)
    expect(done).toEqual(answers)
    expect(done.at(-1)).toBe(CROWD - 1)
  })

  it('turn-queue-1: lets one key continue while another waits (14.2)', async () => {
    const queue = new TurnQueue<string>()
    void queue.run('slow', () => new Promise(() => {}))
    await expect(queue.run('quick', () => Promise.resolve('done'))).resolves.toBe('done')
  })

  it('turn-queue-1: passes calls that wait together as groups of bounded size (14.2)', async () => {
    const groups: number[][] = []
    const all = new Promise<void>((resolve) => {
      const calls = new CallGroups<string, number>(async (_, group) => {
        groups.push([...group])
        await Promise.resolve()
        if (groups.flat().length === 7) resolve()
      }, 3)
      for (let n = 0; n < 7; n++) calls.add('session', n)
    })
    await all
    expect(groups).toEqual([[0, 1, 2], [3, 4, 5], [6]])
  })

  it('turn-queue-2: continues after work that failed (14.2)', async () => {
    const queue = new TurnQueue<string>()
    const failed = queue.run('task', () => Promise.reject(new Error('refused')))
    const next = queue.run('task', () => Promise.resolve('done'))
    await expect(failed).rejects.toThrow('refused')
    await expect(next).resolves.toBe('done')
  })

  it('turn-queue-3: tries again at once after the first conflicts, then after a short random pause (14.2)', async () => {
    const clock = new VirtualClock(0)
    const paused: number[] = []
    const pause = (conflicts: number): void => {
      void pauseAfterConflict({ clock, ids: { roll: () => 1 } }, conflicts).then(() => paused.push(clock.now()))
    }
    for (const conflicts of [1, 2, 3, 4, 500]) pause(conflicts)
    await clock.runUntilIdle()
    expect(paused).toEqual([0, 0, 4, 8, 100])
  })
})
