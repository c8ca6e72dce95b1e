/** One step's attempts: results, failures, intents, uncertain outcomes and a person's decision on them. */
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

  test("the fact of a step's result holds the events that the step emits", () =>
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
  ])('attempt-1: after %s a later result, failure or intent changes nothing', (_, settled) => {
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

describe('a step name that is used for something else', () => {
  test.each([fact('timer.set'), fact('wait.opened'), fact('child.started')])(
    'a step with $type is not executed',
    (opened) => {
      given(started(), opened).when(command('intend_step')).thenRefused('STEP_MISUSED')
      given(started(), opened).when(command('complete_step')).thenRefused('STEP_MISUSED')
      given(started(), opened).when(command('fail_step')).thenRefused('STEP_MISUSED')
    },
  )
})

describe('failures', () => {
  test('[V9] a retryable failure records its reason and the instant of the retry', () => {
    given(started()).when(command('fail_step')).thenFacts(fact('step.retry_scheduled'))
    expect(openAfter(started(), fact('step.retry_scheduled'))).toEqual({
      kind: 'retrying',
      attempt: 1,
      wakeAt: 10 + FIRST_DELAY_MS,
      error: BROKEN,
    })
  })

  test('a failure that is not retryable settles the step', () => {
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

  test('attempt-3: a failure reported twice does not allow another attempt', () =>
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

  test('the number of finished attempts of a step is known', () => {
    expect(attemptsOf(liveAfter(started()), 'mail')).toBe(0)
    expect(attemptsOf(liveAfter(started(), fact('step.retry_scheduled', { attempt: 2 })), 'mail')).toBe(2)
    expect(attemptsOf(liveAfter(started(), fact('step.intended', { attempt: 3 })), 'mail')).toBe(2)
    expect(attemptsOf(liveAfter(started(), fact('timer.set')), 'mail')).toBe(0)
  })
})

describe('an effect that must happen once', () => {
  test('attempt-2: [R6] a once effect is intended before it starts', () => {
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

  test('attempt-2: a once step is tried again if its failure is known to have had no effect', () => {
    given(...intended)
      .when(command('fail_step', { effect: 'once', definite: true }))
      .thenFacts(fact('step.retry_scheduled'))
    given(started(), fact('step.retry_scheduled'))
      .when(command('intend_step'))
      .thenFacts(fact('step.intended', { attempt: 2 }))
  })

  test('attempt-2: [R6][V10] any other failure of a once step makes it uncertain, even if the policy allows more retries', () => {
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

  test('a result settles an intended step', () =>
    given(...intended)
      .when(command('complete_step'))
      .thenFacts(fact('step.completed')))

  test('attempt-2: [R6] a performer that is gone makes the intended step uncertain', () =>
    given(...intended)
      .when(command('mark_uncertain'))
      .thenFacts(fact('step.uncertain', { over: true })))

  test.each([
    ['unknown', []],
    ['uncertain already', [fact('step.intended'), fact('step.uncertain')]],
    ['waiting for its retry', [fact('step.retry_scheduled')]],
    ['done', [fact('step.completed')]],
  ])('marking a step that is %s as uncertain records nothing', (_, history) =>
    given(started(), ...history)
      .when(command('mark_uncertain'))
      .thenNothing(),
  )

  test('uncertain-step-1: a run knows the task that asks about an uncertain outcome until the outcome is decided', () => {
    const asked = [...intended, fact('step.uncertain', { task: TASK })]
    given(...intended)
      .when(command('mark_uncertain', { task: TASK }))
      .thenFacts(fact('step.uncertain', { task: TASK, over: true }))
    expect(liveAfter(...asked).tasks).toEqual([TASK])
    expect(liveAfter(...asked, fact('step.resolved', { verdict: 'run_again' })).tasks).toEqual([])
    given(...asked)
      .when(command('mark_uncertain', { task: OTHER }))
      .thenNothing()
  })

  test('uncertain-step-1: if no task asks about an uncertain outcome any more, a new task does', () =>
    given(...intended, unasked('the worker is gone'))
      .when(command('mark_uncertain', { task: TASK }))
      .thenFacts(fact('step.uncertain', { task: TASK, over: true })))

  test('attempt-2: a result or failure after the outcome became uncertain is evidence for a person and does not settle the step', () => {
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

  test('a step that became uncertain without an intent has an empty effect key', () =>
    expect(openAfter(started(), fact('step.uncertain'))).toMatchObject({ kind: 'uncertain', effectKey: '' }))
})

describe("a person's decision on an uncertain step", () => {
  const verdicts = ['happened', 'run_again', 'abort'] as const

  test.each(verdicts)('attempt-2: an uncertain step accepts the verdict %s', (verdict) =>
    given(...uncertain)
      .when(command('resolve_step', { verdict }))
      .thenFacts(fact('step.resolved', { verdict })),
  )

  test('with the verdict happened the step is done, with the result that the person saw or with none', () => {
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

  test('with the verdict abort the step has failed', () =>
    expect(settledAfter(...uncertain, fact('step.resolved', { verdict: 'abort' }))).toMatchObject({
      kind: 'failed',
      error: { code: 'STEP_REFUSED', message: 'ana aborted the step' },
    }))

  test('attempt-2: after the verdict run_again the step may be intended again', () =>
    given(...uncertain, fact('step.resolved', { verdict: 'run_again' }))
      .when(command('intend_step', { now: 20 }))
      .thenFacts(fact('step.intended', { at: 20 })))

  test.each([
    ['unknown', []],
    ['intended', [fact('step.intended')]],
    ['done', [fact('step.completed')]],
  ])('a step that is %s accepts no verdict', (_, history) =>
    given(started(), ...history)
      .when(command('resolve_step'))
      .thenRefused('NOT_FOUND'),
  )

  test('attempt-4: a decision on a task settles the uncertain outcome that the task asked about, and no later one', () => {
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
