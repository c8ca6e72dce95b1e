/** The virtual clock: order, jumps, and that promises continue between callbacks. */
import { describe, expect, test } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

/** A clock at 100, and a log of what was called when. */
const aClock = () => {
  const clock = new VirtualClock(100)
  const log: string[] = []
  const note = (name: string) => (): void => {
    log.push(`${name}@${clock.now()}`)
  }
  return { clock, log, note }
}

describe('virtual clock', () => {
  test('nothing is called until time advances', async () => {
    const { clock, log, note } = aClock()
    clock.at(100, note('timer'))
    clock.defer(note('turn'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(log).toEqual([])
  })

  test('advance makes the due calls, by instant and then by insertion, each at its own instant', async () => {
    const { clock, log, note } = aClock()
    clock.at(130, note('c'))
    clock.at(110, note('a'))
    clock.at(130, note('d'))
    clock.at(110, note('b'))
    clock.at(131, note('later'))
    await clock.advance(30)
    expect(log).toEqual(['a@110', 'b@110', 'c@130', 'd@130'])
    expect(clock.now()).toBe(130)
  })

  test('a timer in the past is called now, and time never moves backwards', async () => {
    const { clock, log, note } = aClock()
    clock.defer(note('turn'))
    clock.at(5, note('past'))
    await clock.advance(0)
    expect(log).toEqual(['turn@100', 'past@100'])
  })

  test('a deferred callback runs after the timers that were due when it was requested', async () => {
    const { clock, log, note } = aClock()
    clock.at(110, () => clock.defer(note('turn')))
    clock.at(110, note('timer'))
    await clock.advance(10)
    expect(log).toEqual(['timer@110', 'turn@110'])
  })

  test('a timer set by a callback is called in the same advance if it is due in it', async () => {
    const { clock, log, note } = aClock()
    clock.at(110, () => clock.at(120, note('second')))
    clock.at(115, note('first'))
    await clock.advance(20)
    expect(log).toEqual(['first@115', 'second@120'])
  })

  test('promises continue between two callbacks, however long their chain', async () => {
    const { clock, log, note } = aClock()
    const chain = async (): Promise<void> => {
      for (let i = 0; i < 50; i++) await Promise.resolve()
      note('chain')()
    }
    clock.at(110, () => void chain())
    clock.at(110, note('after'))
    await clock.advance(10)
    expect(log).toEqual(['chain@110', 'after@110'])
  })

  test('advance sees timers that a pending promise sets before it', async () => {
    const { clock, log, note } = aClock()
    void Promise.resolve().then(() => clock.at(105, note('timer')))
    await clock.advance(10)
    expect(log).toEqual(['timer@105'])
  })

  test('a cancelled timer is not called; cancelling late or twice does nothing', async () => {
    const { clock, log, note } = aClock()
    const cancel = clock.at(110, note('cancelled'))
    const cancelLate = clock.at(105, note('called'))
    cancel()
    cancel()
    await clock.advance(20)
    cancelLate()
    expect(log).toEqual(['called@105'])
  })

  test('runUntilIdle jumps from timer to timer until none is left', async () => {
    const { clock, log, note } = aClock()
    clock.at(1e9, () => clock.at(2e9, note('far')))
    await clock.runUntilIdle()
    expect(log).toEqual(['far@2000000000'])
    expect(clock.pending()).toEqual([])
  })

  test('pending lists the pending calls, and fire makes one of them', async () => {
    const { clock, log, note } = aClock()
    clock.at(300, note('far'))
    clock.at(200, note('near'))
    clock.defer(note('turn'))
    expect(clock.pending().map(({ kind, at }) => `${kind}@${at}`)).toEqual(['turn@100', 'timer@200', 'timer@300'])
    await clock.fire(2)
    expect(clock.now()).toBe(300)
    await clock.fire(0)
    await clock.fire(0)
    expect(log).toEqual(['far@300', 'turn@300', 'near@300'])
    await expect(clock.fire(0)).rejects.toThrow(RangeError)
  })
})
