/** A run that a person has paused, and which commands it still accepts. */
import { describe, expect, test } from 'vitest'
import { CANCELLED, command, fact, liveAfter, started, stateAfter } from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import { run, statusOf, wakeAt } from './run.ts'

const { given } = specify(run)
const paused = fact('run.paused')
const resumed = fact('run.resumed')

describe('a pause', () => {
  test('[G12] a pause holds a run and records who and why', () =>
    given(started())
      .when(command('pause_run', { reason: 'prices changed' }))
      .thenFacts(fact('run.paused', { reason: 'prices changed' })))

  test('a second pause changes nothing', () => given(started(), paused).when(command('pause_run')).thenNothing())

  test('a pause of a cancelled or ended run is refused', () => {
    given(started(), fact('run.cancel_requested')).when(command('pause_run')).thenRefused('RUN_CANCELLED')
    given(started(), fact('run.completed')).when(command('pause_run')).thenRefused('RUN_ENDED')
    given(started(), fact('run.completed')).when(command('resume_run')).thenRefused('RUN_ENDED')
  })

  test('a pause ends with a resume, and resuming a run that is not paused changes nothing', () => {
    given(started(), paused).when(command('resume_run')).thenFacts(resumed)
    given(started()).when(command('resume_run')).thenNothing()
    given(started(), paused, fact('run.cancel_requested')).when(command('resume_run')).thenNothing()
  })
})

describe('a paused run', () => {
  test.each(['intend_step', 'set_timer', 'open_wait', 'start_child'] as const)('pause-1: refuses %s', (type) =>
    given(started(), paused).when(command(type)).thenRefused('RUN_PAUSED'),
  )

  test('pause-1: a paused run accepts results of work under way, and events from outside', () => {
    given(started(), paused).when(command('complete_step')).thenFacts(fact('step.completed'))
    given(started(), fact('wait.opened'), paused).when(command('receive_event')).thenFacts(fact('wait.received'))
    given(started(), fact('child.started'), paused).when(command('end_child')).thenFacts(fact('child.ended'))
    given(started(), paused).when(command('finish_run')).thenFacts(fact('run.completed'))
  })

  test('pause-1: timers of a paused run do not fire until it is resumed, but its deadline passes', () => {
    const history = [started({ deadlineAt: 90 }), fact('timer.set', { wakeAt: 50 })] as const
    given(...history, paused)
      .when(command('pass_time', { now: 60 }))
      .thenNothing()
    expect(wakeAt(stateAfter(...history, paused))).toBe(90)
    expect(wakeAt(stateAfter(...history, paused, resumed))).toBe(50)
    given(...history, paused, resumed)
      .when(command('pass_time', { now: 60 }))
      .thenFacts(fact('timer.fired', { at: 60 }))
    expect(stateAfter(...history, paused).kind).toBe('live')
    expect(run.decide(stateAfter(...history, paused), command('pass_time', { now: 90 }))).toMatchObject({
      facts: [{ type: 'run.cancel_requested', error: { code: 'RUN_DEADLINE' } }],
    })
  })

  test('a paused run has the status paused once its holder has parked it', () => {
    const state = liveAfter(started(), paused)
    expect([statusOf(state, true), statusOf(state, false)]).toEqual(['paused', 'running'])
  })

  test('pause-2: a paused run can be cancelled, and a retry begins it without the pause', () => {
    const cancelled = [started(), paused, fact('run.cancel_requested'), fact('run.cancelled')] as const
    given(started(), paused)
      .when(command('cancel_run', { idle: true }))
      .thenFacts(fact('run.cancel_requested'), fact('run.cancelled', { error: CANCELLED }))
    expect(liveAfter(...cancelled, fact('run.retried')).pause).toBeNull()
  })
})
