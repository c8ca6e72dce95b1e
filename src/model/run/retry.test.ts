/** A person's retry: which ended runs it opens again, and what of the run it keeps. */
import { describe, expect, test } from 'vitest'
import { inline } from '#model/kernel/payload.ts'
import {
  aStart,
  BROKEN,
  command,
  fact,
  liveAfter,
  started,
  stateAfter,
  TOO_LATE,
} from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import { run, wakeAt } from './run.ts'

const { given } = specify(run)

describe('which runs can be retried', () => {
  test.each(['run.failed', 'run.cancelled', 'run.expired', 'run.quarantined'] as const)(
    'a run that ended with %s can be retried',
    (end) => given(started(), fact(end)).when(command('retry_run')).thenFacts(fact('run.retried')),
  )

  test.each(['success', 'partial'] as const)('a run that ended with %s cannot be retried', (status) =>
    given(started(), fact('run.completed', { status })).when(command('retry_run')).thenRefused('RUN_NOT_FAILED'),
  )

  test('a run that has not ended cannot be retried', () => {
    given(started()).when(command('retry_run')).thenRefused('RUN_NOT_FAILED')
    given(started(), fact('run.cancel_requested')).when(command('retry_run')).thenRefused('RUN_NOT_FAILED')
  })

  test('a run cannot be retried twice', () =>
    given(started(), fact('run.failed'), fact('run.retried')).when(command('retry_run')).thenRefused('RUN_NOT_FAILED'))
})

describe('what a retry keeps', () => {
  test('run-1: only a retry opens an ended run', () => {
    expect(stateAfter(started(), fact('run.failed'), fact('run.retried')).kind).toBe('live')
    const live = liveAfter(started())
    expect(run.evolve(live, fact('run.retried'))).toBe(live)
  })

  test('a retry keeps finished steps, and failed ones get their attempts back', () => {
    const failedChild = fact('child.ended', { step: 'print', end: { kind: 'failed', error: BROKEN } })
    const state = liveAfter(
      started(),
      fact('step.completed', { step: 'charge' }),
      fact('step.failed'),
      failedChild,
      fact('run.failed'),
      fact('run.retried'),
    )
    expect(state.settled.entries()).toEqual([['charge', { kind: 'done', result: inline('ok') }]])
  })

  test('a retry drops open retries, waits and calls, and keeps every other open step', () => {
    const state = liveAfter(
      started(),
      fact('step.retry_scheduled'),
      fact('step.uncertain', { step: 'pay' }),
      fact('timer.set', { step: 'rest' }),
      fact('wait.opened', { step: 'answer' }),
      fact('child.started', { step: 'print' }),
      fact('step.intended', { step: 'post' }),
      fact('run.quarantined'),
      fact('run.retried'),
    )
    expect(state.open.entries().map(([step, open]) => [step, open.kind])).toEqual([
      ['pay', 'uncertain'],
      ['rest', 'sleeping'],
      ['post', 'intended'],
    ])
  })

  test('a wait is opened again after a retry, because the ledger dropped it at the end', () =>
    given(started(), fact('wait.opened'), fact('run.failed'), fact('run.retried'))
      .when(command('open_wait'))
      .thenFacts(fact('wait.opened')))

  test('after a retry the handler has all its attempts again and is not cancelled', () => {
    const state = liveAfter(
      started(),
      fact('run.retry_scheduled', { attempt: 2 }),
      fact('run.cancel_requested'),
      fact('run.cancelled'),
      fact('run.retried'),
    )
    expect(state).toMatchObject({ failures: 0, retryAt: null, cancel: null })
  })

  test('the state before the retry stays readable', () => {
    const ended = stateAfter(started(), fact('step.failed'), fact('run.failed'))
    run.evolve(ended, fact('run.retried'))
    expect(ended.kind === 'ended' && ended.last.settled.has('mail')).toBe(true)
  })
})

describe('a retry after a time limit has passed', () => {
  test('a run that expired before it started can be retried', () => {
    const history = [started({ startBy: 9 }), fact('run.expired'), fact('run.retried')]
    given(...history)
      .when(command('pass_time'))
      .thenNothing()
  })

  test('a run that missed its deadline can be retried', () => {
    const history = [started({ deadlineAt: 10 }), fact('run.failed', { error: TOO_LATE }), fact('run.retried')]
    given(...history)
      .when(command('pass_time'))
      .thenNothing()
    expect(wakeAt(stateAfter(...history))).toBeNull()
  })

  test('a deadline that is still ahead is kept', () => {
    const state = liveAfter(started({ deadlineAt: 11, startBy: 5 }), fact('run.failed'), fact('run.retried'))
    expect(state.start).toStrictEqual(aStart({ deadlineAt: 11 }))
  })
})
