/** Ledger suite, chapter 12: keys of slots and values of waits may have any length and any character (issue 14.7). */
import { expect, test } from 'vitest'
import type { RunId } from '#model/kernel/ids.ts'
import { canonical } from '#model/kernel/json.ts'
import { aCreation, anEvent, aWait, aWrite, newRun, newWorker, START } from './builders.ts'
import type { LedgerHarness } from './harness.ts'

/** A text that no store can compress: a linear congruential generator written in 64 letters. */
const noise = (length: number, seed: number): string => {
  let state = seed
  const letters = Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return String.fromCharCode(48 + (state >>> 26))
  })
  return letters.join('')
}

/** Pairs that differ in only one character, at a place that a careless store would truncate or change. */
const TEXTS: readonly (readonly [name: string, one: string, other: string])[] = [
  ['of 10 KB', noise(10_000, 1), noise(10_000, 2)],
  ['of 10 KB that differ in the last character', `${noise(9_999, 3)}a`, `${noise(9_999, 3)}b`],
  ['of 200 KB', noise(200_000, 4), noise(200_000, 5)],
  ['with NUL characters', 'a\u0000b', 'a\u0000c'],
  ['of 10 KB with NUL characters', `\u0000${noise(10_000, 6)}`, noise(10_000, 6)],
  ['of lone surrogates', '\ud83d', '\ud83e'],
  ['of 10 KB with lone surrogates', `${noise(10_000, 7)}\ud83d`, `${noise(10_000, 7)}\ud83e`],
  ['of 10,000 characters of three bytes', '語'.repeat(10_000), `${'語'.repeat(9_999)}本`],
]

export const keysSuite = (harness: LedgerHarness): void => {
  const slotted = async (...keys: readonly string[]): Promise<RunId> => {
    const run = newRun()
    const slots = keys.map((key) => ({ key, limit: 1, weight: 1 }))
    await harness.written({ writes: [aCreation(run, { slots })] })
    return run
  }
  const claimed = async (): Promise<readonly string[]> => {
    const { claims } = await harness.ledger.claim({ worker: newWorker(), now: START, limit: 100 })
    return claims.map(({ stream }) => stream)
  }

  test.each(TEXTS)('ledger-8: slots with keys %s are shared by equal keys only (14.7)', async (_, one, other) => {
    const [first, second, third] = [await slotted(one), await slotted(one), await slotted(other)]
    expect(await claimed()).toEqual([first, third])
    const ended = await harness.written({ writes: [aWrite(first, { release: true, status: 'success' })] })
    harness.expectSignalled(ended, second)
    expect(await claimed()).toEqual([second])
  })

  test('ledger-8: a long key is one slot, alone or with others, for any handler (14.7)', async () => {
    const [long, more] = [noise(10_000, 8), Array.from({ length: 16 }, (_, i) => noise(10_000, 20 + i))]
    const alone = await slotted(long)
    const crowd = await slotted(...more, long)
    const free = await slotted(...more.map((key) => `${key}!`))
    expect(await claimed()).toEqual([alone, free])
    await harness.written({ writes: [aWrite(alone, { release: true, status: 'success' })] })
    expect(await claimed()).toEqual([crowd])
  })

  test.each(TEXTS)('ledger-5: a wait for a value %s is met by it and by no other (14.7)', async (_, one, other) => {
    const wait = aWait({ path: 'order', value: canonical(one) })
    const run = await harness.createParkedRun({ opensWaits: [wait] })
    await harness.written({ events: [anEvent({ data: { order: other } })] })
    expect(await harness.isDue(run)).toBe(false)
    harness.expectSignalled(await harness.written({ events: [anEvent({ data: { order: one } })] }), run)
    expect(await harness.isDue(run)).toBe(true)
  })

  test.each(TEXTS)('ledger-5: a wait that comes too late for a value %s is signalled (14.7)', async (_, one) => {
    await harness.written({ events: [anEvent({ data: { order: one } })] })
    const run = await harness.createHeldRun()
    const opensWaits = [aWait({ path: 'order', value: canonical(one) })]
    harness.expectSignalled(await harness.written({ writes: [aWrite(run, { release: true, opensWaits })] }), run)
  })
}
