/** The address of a step, and when an open step needs a wake. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openWait } from '#model/event/wait.ts'
import { inline } from '#model/kernel/payload.ts'
import { aWait, BROKEN, CHILD } from '#test/support/stories/run-story.ts'
import { isLoopKey, isSettled, isStepName, type OpenStep, type SettledStep, stepAddress, stepWakeAt } from './step.ts'

const OPEN: readonly (readonly [OpenStep, number | null])[] = [
  [{ kind: 'intended', attempt: 1, effectKey: 'k' }, null],
  [{ kind: 'uncertain', attempt: 1, effectKey: 'k', reason: 'gone', isOver: true, task: null }, null],
  [{ kind: 'retrying', attempt: 1, wakeAt: 40, error: BROKEN }, 40],
  [{ kind: 'retrying', attempt: 1, wakeAt: null, error: BROKEN }, null],
  [{ kind: 'sleeping', wakeAt: 50 }, 50],
  [{ kind: 'waiting', wait: openWait(aWait({ timeoutAt: 60 })) }, 60],
  [{ kind: 'waiting', wait: openWait(aWait()) }, null],
  [{ kind: 'calling', child: CHILD, handler: 'child' }, null],
]
const SETTLED: readonly SettledStep[] = [
  { kind: 'done', result: inline(1) },
  { kind: 'failed', error: BROKEN },
  { kind: 'received', events: [], timedOut: true, missing: ['mail.read'] },
]

test.each(OPEN)('an open step knows when time alone changes it: %j', (step, instant) =>
  expect(stepWakeAt(step)).toBe(instant),
)

test('a settled step is not an open one', () => {
  expect(SETTLED.map(isSettled)).toEqual([true, true, true])
  expect(OPEN.map(([step]) => isSettled(step))).toEqual(OPEN.map(() => false))
})

describe('names and loop keys', () => {
  test.each(['a', 'Send the mail', 'größe', 'x'.repeat(128), 'a]', '🙂'])('%j is a step name', (name) =>
    expect(isStepName(name)).toBe(true),
  )

  test.each(['', 'x'.repeat(129), 'a\nb', 'a\u0000', 'a\u007f', 'a\ud800', '\udc00a', 'a[b', 'a[b]'])(
    '%j is no step name',
    (name) => expect(isStepName(name)).toBe(false),
  )

  test.each(['1', '[x]', 'x'.repeat(255)])('%j is a loop key', (key) => expect(isLoopKey(key)).toBe(true))

  test.each(['', 'x'.repeat(256), '\t', 'a\ud800'])('%j is no loop key', (key) => expect(isLoopKey(key)).toBe(false))

  test('an address is the name, followed by the loop key', () => {
    expect(stepAddress('mail', null)).toBe('mail')
    expect(stepAddress('mail', '7')).toBe('mail[7]')
  })

  test('[R4] two steps never share an address: name and key can be read back from it', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '[', ']', '#'), maxLength: 5 })
    fc.assert(
      fc.property(text.filter(isStepName), fc.option(text.filter(isLoopKey)), (name, key) => {
        const address = stepAddress(name, key)
        const bracket = address.indexOf('[')
        const readBack = bracket < 0 ? [address, null] : [address.slice(0, bracket), address.slice(bracket + 1, -1)]
        expect(readBack).toEqual([name, key])
      }),
      { numRuns: 1_000, seed: 1 },
    )
  })
})
