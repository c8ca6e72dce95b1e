/** Children across the lives of their parent: which run a call continues, which end counts, and what ends with the parent. */
import { describe, expect, test } from 'vitest'
import { BROKEN, CHILD, command, fact, liveAfter, started } from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import { calledBy, callName, childRules, endsWithParent, hasRetriedFor } from './child-retry.ts'
import { run as machine } from './run.ts'

const { given } = specify(machine)

const { childToRetry } = childRules
const FAILED = { end: { kind: 'failed', error: BROKEN } } as const
const called = fact('child.started', { step: 'pay' })
const failed = [called, fact('child.ended', { step: 'pay', ...FAILED })]

describe('a retry goes down to children', () => {
  test('child-retry-1: a call repeated after a retry continues the child of the life before, if the handler is the same', () => {
    const run = liveAfter(started(), ...failed, fact('run.failed'), fact('run.retried'))
    expect(childToRetry(run, { step: 'pay', handler: 'print' })).toEqual({ child: CHILD, again: 'pay' })
    expect(childToRetry(run, { step: 'pay', handler: 'other' })).toBeNull()
    expect(childToRetry(run, { step: 'ship', handler: 'print' })).toBeNull()
    // The same holds for a child that had not ended when its parent did, and in every later life.
    const open = liveAfter(
      started(),
      called,
      fact('run.failed'),
      fact('run.retried'),
      fact('run.failed'),
      fact('run.retried'),
    )
    expect(childToRetry(open, { step: 'pay', handler: 'print' })).toEqual({ child: CHILD, again: 'pay' })
  })

  test('child-retry-1: a step that is tried again continues the child of the failed step', () => {
    const run = liveAfter(started(), ...failed)
    const again = { step: 'pay[again 1]', handler: 'print', of: 'pay' }
    expect(childToRetry(run, again)).toEqual({ child: CHILD, again: 'pay' })
    // In the next life this step does not call by itself: the first step does.
    const retried = [
      fact('child.started', { step: 'pay[again 1]', again: 'pay' }),
      fact('run.failed'),
      fact('run.retried'),
    ]
    const next = liveAfter(started(), ...failed, ...retried)
    expect(childToRetry(next, { step: 'pay', handler: 'print' })).toEqual({ child: CHILD, again: 'pay' })
    expect(next.recalls.has('pay[again 1]')).toBe(false)
  })

  test('child-retry-2: an end counts for a call if the child was retried for it', () => {
    const first = liveAfter(started())
    const second = liveAfter(started(), fact('run.failed'), fact('run.retried'))
    const facts = [fact('run.retried', { call: callName(second, 'pay') })]
    expect(hasRetriedFor(facts, callName(second, 'pay'))).toBe(true)
    expect(hasRetriedFor(facts, callName(first, 'pay'))).toBe(false)
    expect(hasRetriedFor(facts, callName(second, 'ship'))).toBe(false)
    expect(hasRetriedFor([fact('run.retried')], callName(second, 'pay'))).toBe(false)
  })

  test('child-retry-3: a retried run has no open call before its code calls', () => {
    const run = liveAfter(started(), called, fact('run.failed'), fact('run.retried'))
    expect(run.open.size).toBe(0)
    given(started(), called, fact('run.failed'), fact('run.retried'))
      .when(command('start_child', { step: 'pay', again: 'pay' }))
      .thenFacts(fact('child.started', { step: 'pay', again: 'pay' }))
  })

  test('child-retry-4: the end of a parent ends the runs that it called, except detached calls and children that were retried by themselves', () => {
    const detached = fact('child.started', { step: 'mail', detached: true })
    expect(calledBy(liveAfter(started(), called, detached))).toEqual([CHILD])
    expect(calledBy(liveAfter(started(), called, fact('run.failed'), fact('run.retried')))).toEqual([CHILD])
    expect(calledBy(liveAfter(started(), ...failed))).toEqual([])
    expect(endsWithParent(liveAfter(started()))).toBe(true)
    expect(endsWithParent(liveAfter(started({ onParentEnd: 'detach' })))).toBe(false)
    expect(endsWithParent(liveAfter(started(), fact('run.failed'), fact('run.retried')))).toBe(false)
    expect(endsWithParent(liveAfter(started(), fact('run.failed'), fact('run.retried', { call: '1 pay' })))).toBe(true)
  })
})
