/** What a run waits for, and how many steps it may have. */
import { describe, expect, test } from 'vitest'
import { aWait, BROKEN, CHILD, command, fact, liveAfter, started, stateAfter } from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import type { RunFact } from './fact.ts'
import { run, statusOf, wakeAt } from './run.ts'

const { given } = specify(run)

describe('the limit of 100,000 steps', () => {
  const steps = (count: number): readonly RunFact[] =>
    Array.from({ length: count }, (_, i) => fact('step.completed', { step: `s${i}` }))
  const almost = stateAfter(started(), ...steps(99_999))
  const full = run.evolve(almost, fact('step.intended'))
  const decideOn = (state: typeof full, sent: Parameters<typeof run.decide>[1]) => run.decide(state, sent)
  const BEGINNINGS = ['intend_step', 'complete_step', 'fail_step', 'set_timer', 'open_wait', 'start_child'] as const

  test.each(BEGINNINGS)('%s is accepted as the last step, and refused as one more', (type) => {
    expect(decideOn(almost, command(type))).toMatchObject({ kind: 'facts' })
    expect(decideOn(full, command(type, { step: 'more' }))).toMatchObject({ kind: 'refused', code: 'RUN_TOO_LONG' })
  })

  test('a step that was begun may still settle', () => {
    expect(decideOn(full, command('complete_step'))).toEqual({ kind: 'facts', facts: [fact('step.completed')] })
    expect(decideOn(full, command('fail_step', { retryable: false }))).toEqual({
      kind: 'facts',
      facts: [fact('step.failed')],
    })
  })

  test('a repeat of a settled step still changes nothing', () => {
    expect(decideOn(full, command('complete_step', { step: 's0' }))).toEqual({ kind: 'facts', facts: [] })
  })
})

describe('what a run waits for', () => {
  const timeout = fact('wait.opened', { step: 'answer', wait: aWait({ timeoutAt: 70 }) })

  test('run-3: the earliest of deadline, retry, timer and timeout wakes the run', () => {
    expect(wakeAt(stateAfter(started({ deadlineAt: 90 })))).toBe(90)
    expect(wakeAt(stateAfter(started({ deadlineAt: 90 }), fact('run.retry_scheduled', { wakeAt: 80 })))).toBe(80)
    expect(wakeAt(stateAfter(started({ deadlineAt: 90 }), timeout))).toBe(70)
    expect(wakeAt(stateAfter(started(), timeout, fact('step.retry_scheduled', { step: 'pay', wakeAt: 60 })))).toBe(60)
    expect(wakeAt(stateAfter(started(), timeout, fact('timer.set')))).toBe(50)
  })

  test.each([
    ['a child', fact('child.started')],
    ['an event without a timeout', fact('wait.opened')],
    ['a person', fact('step.uncertain')],
    ['its holder', fact('step.intended')],
  ])('run-3: a run that waits for %s is not woken by time', (_, opened) => {
    const state = liveAfter(started(), opened)
    expect(wakeAt(state)).toBeNull()
    expect(state.open.size).toBe(1)
  })

  test.each([
    ['nobody', run.initial],
    ['an ended run', stateAfter(started({ deadlineAt: 90 }), fact('timer.set'), fact('run.failed'))],
    ['a cancelled run', stateAfter(started({ deadlineAt: 90 }), fact('timer.set'), fact('run.cancel_requested'))],
  ])('time alone wakes nothing: %s', (_, state) => expect(wakeAt(state)).toBeNull())

  test('run-3: the instant of a retry wakes the run once, even if the code no longer asks for it', () => {
    const history = [
      started(),
      fact('run.retry_scheduled', { wakeAt: 60 }),
      fact('step.retry_scheduled', { wakeAt: 60 }),
    ]
    given(...history)
      .when(command('pass_time', { now: 59 }))
      .thenNothing()
    const spent = [fact('run.retry_due', { at: 60 }), fact('step.retry_due', { at: 60 })] as const
    given(...history)
      .when(command('pass_time', { now: 60 }))
      .thenFacts(...spent)
    given(...history, ...spent)
      .when(command('pass_time', { now: 61 }))
      .thenNothing()
    expect(wakeAt(stateAfter(...history, ...spent))).toBeNull()
  })

  test('after the instant of a retry has passed, the failed attempts still count', () => {
    const spent = [
      started(),
      fact('run.retry_scheduled'),
      fact('step.retry_scheduled'),
      fact('run.retry_due'),
      fact('step.retry_due'),
    ]
    expect(liveAfter(...spent)).toMatchObject({ failures: 1, retryAt: null })
    expect(liveAfter(...spent).open.get('mail')).toEqual({ kind: 'retrying', attempt: 1, wakeAt: null, error: BROKEN })
  })

  test('a passed retry instant changes nothing for a step that does not wait for it', () => {
    expect(liveAfter(started(), fact('step.retry_due'))).toEqual(liveAfter(started()))
    expect(liveAfter(started(), fact('timer.set'), fact('step.retry_due')).open.get('mail')).toEqual({
      kind: 'sleeping',
      wakeAt: 50,
    })
  })

  test('run-3: an instant that has passed when it is recorded wakes the run, and is not lost', () => {
    given(started())
      .when(command('fail_step', { roll: 0 }))
      .thenFacts(fact('step.retry_scheduled', { wakeAt: 10 }))
    expect(wakeAt(stateAfter(started(), fact('step.retry_scheduled', { wakeAt: 10 })))).toBe(10)
    expect(wakeAt(stateAfter(started(), fact('timer.set', { wakeAt: 3 })))).toBe(3)
  })

  test('the status of a run is one word', () => {
    expect(statusOf(stateAfter(started()), false)).toBe('running')
    expect(statusOf(stateAfter(started()), true)).toBe('waiting')
    expect(statusOf(stateAfter(started(), fact('run.cancel_requested')), true)).toBe('cancelling')
    expect(statusOf(stateAfter(started(), fact('child.started', { child: CHILD })), true)).toBe('waiting')
    expect(statusOf(run.initial, false)).toBe('running')
  })
})
