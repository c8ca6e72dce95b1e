/** The life of a run: start, end, cancel, time. What it waits for is tested in waiting.test.ts, a person's retry in retry.test.ts. */
import { describe, expect, test } from 'vitest'
import { inline } from '#model/kernel/payload.ts'
import {
  aStart,
  BROKEN,
  CANCELLED,
  COMMAND_TYPES,
  command,
  FACT_TYPES,
  FIRST_DELAY_MS,
  fact,
  liveAfter,
  started,
  stateAfter,
  TOO_LATE,
} from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import type { RunFact } from './fact.ts'
import { run, statusOf } from './run.ts'

const { given } = specify(run)
const ENDS: readonly RunFact[] = [
  fact('run.completed'),
  fact('run.completed', { status: 'partial' }),
  fact('run.failed'),
  fact('run.cancelled'),
  fact('run.expired'),
  fact('run.quarantined'),
]

describe('start', () => {
  test('a run records the start that it was given', () => given().when(command('start_run')).thenFacts(started()))

  test('a start that carries the members of another fact does not become that fact', () => {
    const start = { ...aStart(), type: 'run.failed', at: 3 } as ReturnType<typeof aStart>
    given().when(command('start_run', { start })).thenFacts(started())
  })

  test.each(COMMAND_TYPES.filter((type) => type !== 'start_run'))(
    '%s to a run that does not exist is refused',
    (type) => given().when(command(type)).thenRefused('NOT_FOUND'),
  )

  test.each(FACT_TYPES.filter((type) => type !== 'run.started'))('%s before the start is not a run', (type) =>
    expect(stateAfter(fact(type))).toBe(run.initial),
  )

  test('starting a live run again changes nothing', () => given(started()).when(command('start_run')).thenNothing())

  test('the state keeps the members of the start, and not the fact', () => {
    expect(liveAfter(started({ depth: 2 })).start).toStrictEqual(aStart({ depth: 2 }))
  })

  test('a second start changes no state', () => {
    const before = liveAfter(started())
    expect(run.evolve(before, started({ handler: 'other' }))).toBe(before)
  })
})

describe('end', () => {
  test('[E3] a run ends with success or with a partial result', () => {
    given(started()).when(command('finish_run')).thenFacts(fact('run.completed'))
    given(started())
      .when(command('finish_run', { status: 'partial' }))
      .thenFacts(fact('run.completed', { status: 'partial' }))
  })

  test('the fact of an end holds the events that the end emits', () =>
    given(started())
      .when(command('finish_run', { events: ['evt-1'] }))
      .thenFacts(fact('run.completed', { events: ['evt-1'] })))

  test('a retryable failure schedules the next attempt at a given instant', () =>
    given(started()).when(command('fail_run')).thenFacts(fact('run.retry_scheduled')))

  test('a failure that is not retryable ends the run', () =>
    given(started())
      .when(command('fail_run', { retryable: false }))
      .thenFacts(fact('run.failed')))

  test('the last attempt of the policy ends the run', () =>
    given(started(), fact('run.retry_scheduled', { attempt: 2 }))
      .when(command('fail_run'))
      .thenFacts(fact('run.failed')))

  test('attempts of the handler are counted', () => {
    const second = fact('run.retry_scheduled', { attempt: 2, wakeAt: 10 + 2 * FIRST_DELAY_MS })
    given(started(), fact('run.retry_scheduled')).when(command('fail_run')).thenFacts(second)
    expect(liveAfter(started(), fact('run.retry_scheduled'), second)).toMatchObject({
      failures: 2,
      retryAt: second.wakeAt,
    })
  })

  test('a run can be quarantined, cancelled or not', () => {
    given(started()).when(command('quarantine_run')).thenFacts(fact('run.quarantined'))
    given(started(), fact('run.cancel_requested')).when(command('quarantine_run')).thenFacts(fact('run.quarantined'))
  })

  test('an end keeps its status, output and error', () => {
    const ends = ENDS.map((end) => stateAfter(started(), end))
    expect(ends.map((state) => statusOf(state, true))).toEqual([
      'success',
      'partial',
      'failed',
      'cancelled',
      'expired',
      'quarantined',
    ])
    expect(ends[0]).toMatchObject({ kind: 'ended', output: inline('sent'), error: null })
    expect(ends[2]).toMatchObject({ kind: 'ended', output: null, error: BROKEN })
  })

  test.each(FACT_TYPES.filter((type) => type !== 'run.retried'))('run-1: %s after an end changes nothing', (type) => {
    for (const end of ENDS) {
      const ended = stateAfter(started(), end)
      expect(run.evolve(ended, fact(type))).toBe(ended)
    }
  })

  const SILENT = ['pass_time', 'end_child', 'receive_event', 'confirm_cancel', 'start_run'] as const
  test.each(SILENT)('run-1: %s after an end records nothing', (type) => {
    for (const end of ENDS) given(started(), end).when(command(type)).thenNothing()
  })

  const REFUSED = [
    'finish_run',
    'fail_run',
    'quarantine_run',
    'intend_step',
    'mark_uncertain',
    'resolve_step',
    'set_timer',
    'open_wait',
    'start_child',
  ] as const
  test.each(REFUSED)('run-1: %s after an end is refused', (type) => {
    for (const end of ENDS) given(started(), end).when(command(type)).thenRefused('RUN_ENDED')
  })

  test('run-1: cancelling a cancelled run changes nothing, cancelling another end is refused', () => {
    given(started(), fact('run.cancelled')).when(command('cancel_run')).thenNothing()
    given(started(), fact('run.completed')).when(command('cancel_run')).thenRefused('RUN_ENDED')
  })

  test('run-1: [R12] a result after an end is kept as evidence', () => {
    for (const end of ENDS) {
      given(started(), end).when(command('report_late')).thenFacts(fact('step.late_result'))
      given(started(), end).when(command('complete_step')).thenFacts(fact('step.late_result'))
      given(started(), end)
        .when(command('fail_step'))
        .thenFacts(fact('step.late_result', { result: null, error: BROKEN }))
    }
  })

  test('run-1: a repeated result of a step that settled before the end records nothing', () => {
    const history = [started(), fact('step.completed'), fact('run.completed')]
    given(...history)
      .when(command('report_late'))
      .thenNothing()
    given(...history)
      .when(command('complete_step'))
      .thenNothing()
    given(...history)
      .when(command('fail_step'))
      .thenNothing()
  })
})

describe('cancel', () => {
  test('[R12] an idle run is cancelled at once', () =>
    given(started()).when(command('cancel_run')).thenFacts(fact('run.cancel_requested'), fact('run.cancelled')))

  test('a cancel of a run at work is only requested, and the run ends when its holder has stopped', () => {
    given(started())
      .when(command('cancel_run', { idle: false }))
      .thenFacts(fact('run.cancel_requested'))
    given(started(), fact('run.cancel_requested')).when(command('confirm_cancel')).thenFacts(fact('run.cancelled'))
  })

  test('a second cancel does not change the first', () => {
    const history = [started(), fact('run.cancel_requested')]
    given(...history)
      .when(command('cancel_run', { by: 'ben' }))
      .thenNothing()
    expect(liveAfter(...history).cancel).toEqual({ by: 'ana', error: CANCELLED })
  })

  test('a cancel that was not requested is not confirmed', () =>
    given(started()).when(command('confirm_cancel')).thenNothing())

  test('run-2: a cancel waits for open children', () => {
    const parent = [started(), fact('child.started')]
    given(...parent)
      .when(command('cancel_run'))
      .thenFacts(fact('run.cancel_requested'))
    given(...parent, fact('run.cancel_requested'))
      .when(command('confirm_cancel'))
      .thenNothing()
    given(...parent, fact('run.cancel_requested'))
      .when(command('end_child'))
      .thenFacts(fact('child.ended'))
    given(...parent, fact('run.cancel_requested'), fact('child.ended'))
      .when(command('confirm_cancel'))
      .thenFacts(fact('run.cancelled'))
  })

  test('run-2: a cancel waits for the last of several children', () => {
    const second = fact('child.started', { step: 'print' })
    given(started(), fact('child.started'), second, fact('run.cancel_requested'), fact('child.ended'))
      .when(command('confirm_cancel'))
      .thenNothing()
  })

  test('run-2: an open step that is not a child does not delay a cancel', () =>
    given(started(), fact('wait.opened'))
      .when(command('cancel_run'))
      .thenFacts(fact('run.cancel_requested'), fact('run.cancelled')))

  const REFUSED = [
    'finish_run',
    'fail_run',
    'intend_step',
    'resolve_step',
    'set_timer',
    'open_wait',
    'start_child',
  ] as const
  test.each(REFUSED)('run-2: [R12][V8] %s after a cancel is refused', (type) =>
    given(started(), fact('run.cancel_requested')).when(command(type)).thenRefused('RUN_CANCELLED'),
  )

  test.each([
    command('pass_time', { now: 1_000 }),
    command('receive_event', { step: 'answer' }),
    command('mark_uncertain', { step: 'pay' }),
  ])('run-2: $type after a cancel records nothing', (sent) => {
    const opened = [fact('timer.set'), fact('wait.opened', { step: 'answer' }), fact('step.intended', { step: 'pay' })]
    expect(run.decide(stateAfter(started(), ...opened), sent)).not.toMatchObject({ facts: [] })
    given(started(), ...opened, fact('run.cancel_requested'))
      .when(sent)
      .thenNothing()
  })

  test('run-2: [R12] a late result after a cancel is kept as evidence and does not count', () => {
    const history = [started(), fact('run.cancel_requested')]
    given(...history)
      .when(command('complete_step', { events: ['evt-1'] }))
      .thenFacts(fact('step.late_result'))
    given(...history)
      .when(command('fail_step'))
      .thenFacts(fact('step.late_result', { result: null, error: BROKEN }))
    given(...history)
      .when(command('report_late'))
      .thenFacts(fact('step.late_result'))
    expect(liveAfter(...history, fact('step.late_result')).settled.size).toBe(0)
  })

  test('run-2: a repeated result of a step that settled before the cancel records nothing', () => {
    const history = [started(), fact('step.completed'), fact('run.cancel_requested')]
    given(...history)
      .when(command('complete_step'))
      .thenNothing()
    given(...history)
      .when(command('fail_step'))
      .thenNothing()
  })
})

describe('time', () => {
  test('[R9] a run expires if it has not started one millisecond after its limit', () => {
    given(started({ startBy: 9 }))
      .when(command('pass_time'))
      .thenFacts(fact('run.expired'))
    given(started({ startBy: 10 }))
      .when(command('pass_time'))
      .thenNothing()
  })

  test.each([
    ['a settled step', fact('step.completed')],
    ['an open step', fact('timer.set')],
    ['a failed attempt', fact('run.retry_scheduled')],
  ])('a run with %s has started', (_, touched) =>
    given(started({ startBy: 9 }), touched)
      .when(command('pass_time'))
      .thenNothing(),
  )

  test('a passed deadline cancels the run, and the run then counts as failed', () => {
    const requested = fact('run.cancel_requested', { by: 'system', error: TOO_LATE })
    given(started({ deadlineAt: 10 }))
      .when(command('pass_time'))
      .thenFacts(requested)
    given(started({ deadlineAt: 11 }))
      .when(command('pass_time'))
      .thenNothing()
    given(started({ deadlineAt: 10 }), requested)
      .when(command('pass_time'))
      .thenNothing()
    given(started(), requested)
      .when(command('confirm_cancel'))
      .thenFacts(fact('run.failed', { error: TOO_LATE }))
  })

  test('time alone changes nothing in a run that waits for nothing', () =>
    given(started()).when(command('pass_time')).thenNothing())
})
