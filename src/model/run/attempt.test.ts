/** One step's attempts: results, failures, intents, doubts and a person's word on them. */
import { describe, expect, test } from 'vitest'
import { taskId } from '#model/kernel/ids.ts'
import { inline, NOTHING } from '#model/kernel/payload.ts'
import {
  BROKEN,
  command,
  FIRST_DELAY_MS,
  fact,
  liveAfter,
  RETRY,
  started,
  TASK,
  unasked,
} from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import { attemptsOf } from './attempt.ts'
import type { RunFact } from './fact.ts'
import { run } from './run.ts'

const { given } = specify(run)
const OTHER = taskId('2'.repeat(32))
const intended = [started(), fact('step.intended')]
const uncertain = [...intended, fact('step.uncertain')]
const settledAfter = (...history: readonly RunFact[]) => liveAfter(...history).settled.get('mail')
const openAfter = (...history: readonly RunFact[]) => liveAfter(...history).open.get('mail')

describe('results', () => {
  test('[R4][V7] a result settles its step', () => {
    given(started()).when(command('complete_step')).thenFacts(fact('step.completed'))
    expect(settledAfter(started(), fact('step.completed'))).toEqual({ kind: 'done', result: inline('ok') })
  })

  test('the events that a step emits stand in its fact', () =>
    given(started())
      .when(command('complete_step', { events: ['evt-1', 'evt-2'] }))
      .thenFacts(fact('step.completed', { events: ['evt-1', 'evt-2'] })))

  test('a result settles a step that was tried before', () => {
    const history = [started(), fact('step.retry_scheduled')]
    given(...history)
      .when(command('complete_step', { attempt: 2 }))
      .thenFacts(fact('step.completed', { attempt: 2 }))
    expect(openAfter(...history, fact('step.completed', { attempt: 2 }))).toBeUndefined()
  })

  test.each([
    ['a result', fact('step.completed')],
    ['a failure', fact('step.failed')],
  ])('attempt-1: after %s a later one changes nothing', (_, settled) => {
    given(started(), settled)
      .when(command('complete_step', { result: inline('other') }))
      .thenNothing()
    given(started(), settled).when(command('fail_step')).thenNothing()
    given(started(), settled).when(command('report_late')).thenNothing()
    given(started(), settled).when(command('intend_step')).thenNothing()
  })

  test.each([
    fact('step.completed', { result: inline('other') }),
    fact('step.failed'),
    fact('step.intended'),
    fact('step.uncertain'),
    fact('step.retry_scheduled'),
    fact('step.resolved', { verdict: 'run_again' }),
    fact('step.resolved', { verdict: 'abort' }),
    fact('timer.set'),
    fact('timer.fired'),
    fact('wait.opened'),
    fact('wait.received'),
    fact('wait.timed_out'),
    fact('child.started'),
    fact('child.ended'),
  ])('attempt-1: $type does not touch a step that is done', (later) => {
    const state = liveAfter(started(), fact('step.completed'), later)
    expect(state.settled.get('mail')).toEqual({ kind: 'done', result: inline('ok') })
    expect(state.open.size).toBe(0)
  })
})

describe('a name that means something else', () => {
  test.each([fact('timer.set'), fact('wait.opened'), fact('child.started')])(
    'a step with $type is not performed',
    (opened) => {
      given(started(), opened).when(command('intend_step')).thenRefused('STEP_MISUSED')
      given(started(), opened).when(command('complete_step')).thenRefused('STEP_MISUSED')
      given(started(), opened).when(command('fail_step')).thenRefused('STEP_MISUSED')
    },
  )
})

describe('failures', () => {
  test('[V9] a failure that may be retried names its reason and its instant', () => {
    given(started()).when(command('fail_step')).thenFacts(fact('step.retry_scheduled'))
    expect(openAfter(started(), fact('step.retry_scheduled'))).toEqual({
      kind: 'retrying',
      attempt: 1,
      wakeAt: 10 + FIRST_DELAY_MS,
      error: BROKEN,
    })
  })

  test('a failure that may not be retried settles the step', () => {
    given(started())
      .when(command('fail_step', { retryable: false }))
      .thenFacts(fact('step.failed'))
    expect(settledAfter(started(), fact('step.failed'))).toEqual({ kind: 'failed', error: BROKEN })
  })

  test('attempt-3: [V9] the last attempt of the policy settles the step', () => {
    const history = [started(), fact('step.retry_scheduled', { attempt: RETRY.maxAttempts - 1 })]
    given(...history)
      .when(command('fail_step', { attempt: RETRY.maxAttempts }))
      .thenFacts(fact('step.failed', { attempt: RETRY.maxAttempts }))
  })

  test('attempt-3: each delay grows with the attempt', () =>
    given(started(), fact('step.retry_scheduled'))
      .when(command('fail_step', { attempt: 2 }))
      .thenFacts(fact('step.retry_scheduled', { attempt: 2, wakeAt: 10 + 2 * FIRST_DELAY_MS })))

  test('attempt-3: a failure told twice buys no other attempt', () =>
    given(started(), fact('step.retry_scheduled'))
      .when(command('fail_step', { now: 999 }))
      .thenNothing())

  test('attempt-3: a failure of an earlier attempt does not undo the intent of the next', () => {
    const history = [started(), fact('step.retry_scheduled'), fact('step.intended', { attempt: 2 })]
    given(...history)
      .when(command('fail_step', { effect: 'once', definite: true }))
      .thenNothing()
    given(...history)
      .when(command('fail_step', { effect: 'once', attempt: 2, definite: true }))
      .thenFacts(fact('step.retry_scheduled', { attempt: 2, wakeAt: 10 + 2 * FIRST_DELAY_MS }))
  })

  test('the attempts that are over are known', () => {
    expect(attemptsOf(liveAfter(started()), 'mail')).toBe(0)
    expect(attemptsOf(liveAfter(started(), fact('step.retry_scheduled', { attempt: 2 })), 'mail')).toBe(2)
    expect(attemptsOf(liveAfter(started(), fact('step.intended', { attempt: 3 })), 'mail')).toBe(2)
    expect(attemptsOf(liveAfter(started(), fact('timer.set')), 'mail')).toBe(0)
  })
})

describe('an effect that must happen once', () => {
  test('attempt-2: [R6] it is intended before it starts', () => {
    given(started()).when(command('intend_step')).thenFacts(fact('step.intended'))
    expect(openAfter(...intended)).toEqual({ kind: 'intended', attempt: 1, effectKey: 'th1_key' })
  })

  test('attempt-2: [R6][V10] an intended step is not attempted again', () =>
    given(...intended)
      .when(command('intend_step'))
      .thenRefused('STEP_UNCERTAIN'))

  test('attempt-2: [R6][V10] an uncertain step is not attempted again', () =>
    given(...uncertain)
      .when(command('intend_step'))
      .thenRefused('STEP_UNCERTAIN'))

  test('attempt-2: a failure that is known not to have had an effect is tried again', () => {
    given(...intended)
      .when(command('fail_step', { effect: 'once', definite: true }))
      .thenFacts(fact('step.retry_scheduled'))
    given(started(), fact('step.retry_scheduled'))
      .when(command('intend_step'))
      .thenFacts(fact('step.intended', { attempt: 2 }))
  })

  test('attempt-2: [R6][V10] any other failure makes it uncertain, however often it might be retried', () => {
    given(...intended)
      .when(command('fail_step', { effect: 'once' }))
      .thenFacts(unasked('FUNCTION_FAILED: it broke', { over: true }))
    expect(openAfter(...uncertain)).toEqual({
      kind: 'uncertain',
      attempt: 1,
      effectKey: 'th1_key',
      reason: 'the worker is gone',
      isOver: false,
      task: TASK,
    })
  })

  test('a result settles it', () =>
    given(...intended)
      .when(command('complete_step'))
      .thenFacts(fact('step.completed')))

  test('attempt-2: [R6] a performer that is gone makes it uncertain', () =>
    given(...intended)
      .when(command('doubt_step'))
      .thenFacts(fact('step.uncertain', { over: true })))

  test.each([
    ['unknown', []],
    ['uncertain already', [fact('step.intended'), fact('step.uncertain')]],
    ['waiting for its retry', [fact('step.retry_scheduled')]],
    ['done', [fact('step.completed')]],
  ])('a step that is %s is not doubted', (_, history) =>
    given(started(), ...history)
      .when(command('doubt_step'))
      .thenNothing(),
  )

  test('uncertain-step-1: a run knows the task of an uncertain outcome until the word on it', () => {
    const asked = [...intended, fact('step.uncertain', { task: TASK })]
    given(...intended)
      .when(command('doubt_step', { task: TASK }))
      .thenFacts(fact('step.uncertain', { task: TASK, over: true }))
    expect(liveAfter(...asked).tasks).toEqual([TASK])
    expect(liveAfter(...asked, fact('step.resolved', { verdict: 'run_again' })).tasks).toEqual([])
    given(...asked)
      .when(command('doubt_step', { task: OTHER }))
      .thenNothing()
  })

  test('uncertain-step-1: an uncertain outcome that nobody is asked about any more is asked anew', () =>
    given(...intended, unasked('the worker is gone'))
      .when(command('doubt_step', { task: TASK }))
      .thenFacts(fact('step.uncertain', { task: TASK, over: true })))

  test('attempt-2: what comes after the uncertain outcome is evidence for a person, not an answer', () => {
    given(...uncertain)
      .when(command('complete_step'))
      .thenFacts(fact('step.late_result'))
    given(...uncertain)
      .when(command('report_late'))
      .thenFacts(fact('step.late_result'))
    given(...uncertain)
      .when(command('fail_step', { effect: 'once', definite: true }))
      .thenFacts(fact('step.late_result', { result: null, error: BROKEN }))
    expect(openAfter(...uncertain, fact('step.late_result'))).toMatchObject({ kind: 'uncertain', isOver: true })
  })

  test('an uncertain outcome without an intent has no key to show', () =>
    expect(openAfter(started(), fact('step.uncertain'))).toMatchObject({ kind: 'uncertain', effectKey: '' }))
})

describe("a person's word", () => {
  const verdicts = ['happened', 'run_again', 'abort'] as const

  test.each(verdicts)('attempt-2: an uncertain step takes the verdict %s', (verdict) =>
    given(...uncertain)
      .when(command('resolve_step', { verdict }))
      .thenFacts(fact('step.resolved', { verdict })),
  )

  test('it happened: the step is done, with the result that the person saw or with none', () => {
    expect(settledAfter(...uncertain, fact('step.resolved'))).toEqual({
      kind: 'done',
      result: inline('seen'),
      once: true,
    })
    expect(settledAfter(...uncertain, fact('step.resolved', { result: null }))).toEqual({
      kind: 'done',
      result: NOTHING,
      once: true,
    })
  })

  test('abort: the step has failed', () =>
    expect(settledAfter(...uncertain, fact('step.resolved', { verdict: 'abort' }))).toMatchObject({
      kind: 'failed',
      error: { code: 'STEP_REFUSED', message: 'ana aborted the step' },
    }))

  test('attempt-2: run again: the step may be intended anew', () =>
    given(...uncertain, fact('step.resolved', { verdict: 'run_again' }))
      .when(command('intend_step', { now: 20 }))
      .thenFacts(fact('step.intended', { at: 20 })))

  test.each([
    ['unknown', []],
    ['intended', [fact('step.intended')]],
    ['done', [fact('step.completed')]],
  ])('a step that is %s takes no verdict', (_, history) =>
    given(started(), ...history)
      .when(command('resolve_step'))
      .thenRefused('NOT_FOUND'),
  )

  test('attempt-4: a decision on a task counts for the uncertain outcome that it was asked about, and for no later one', () => {
    const asked = [...uncertain, fact('step.uncertain', { task: TASK })]
    given(...asked)
      .when(command('resolve_step', { task: TASK }))
      .thenFacts(fact('step.resolved'))
    given(...asked, fact('step.uncertain', { task: OTHER }))
      .when(command('resolve_step', { task: TASK }))
      .thenNothing()
    given(...uncertain)
      .when(command('resolve_step', { task: OTHER }))
      .thenNothing()
  })

  test('the second verdict is refused', () => {
    for (const verdict of verdicts) {
      given(...uncertain, fact('step.resolved', { verdict }))
        .when(command('resolve_step'))
        .thenRefused('NOT_FOUND')
    }
  })
})
