/** Which version of the code may claim a run, how a hand-over is recorded, and why a run cannot be claimed. */
import { describe, expect, test } from 'vitest'
import { run } from '#model/run/run.ts'
import { command, fact, liveAfter, started } from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'
import { mayTake, NO_VERSION, noHandlerFor, pinAfter } from './pin.ts'

const { given } = specify(run)

describe('a hand-over', () => {
  test('[N5] run-5: a hand-over is recorded once, with both versions (13.2.2)', () => {
    given(started()).when(command('hand_over')).thenFacts(fact('run.handed_over'))
    given(started(), fact('run.handed_over')).when(command('hand_over')).thenNothing()
    expect(liveAfter(started(), fact('run.handed_over')).version).toBe('v2')
  })

  test("run-5: a hand-over to the run's first version is recorded only after a hand-over away from it", () => {
    const back = command('hand_over', { to: 'v1' })
    given(started()).when(back).thenNothing()
    given(started(), fact('run.handed_over'))
      .when(back)
      .thenFacts(fact('run.handed_over', { from: 'v2', to: 'v1' }))
  })

  test('a hand-over of an ended run records nothing', () =>
    given(started(), fact('run.completed')).when(command('hand_over')).thenNothing())
})

describe('a run that is due', () => {
  const due = { handler: 'mail', version: 'v1', wakeAt: 0 }

  test('pin-1, pin-3: a run of another version is never claimed if its handler is not on the takeover list', () => {
    const world = { now: 1e12, living: [] }
    expect(mayTake(due, { version: 'v2', takesOver: [] }, world)).toBe(false)
    expect(mayTake(due, { version: 'v2' }, world)).toBe(false)
    expect(mayTake(due, { version: 'v1' }, world)).toBe(true)
  })

  test('pin-4: a run without a version is claimed by every worker that has its handler, and stays without one if the pin is none', () => {
    const takesOver = [{ handler: 'mail', afterMs: 1e9, isFree: true }]
    expect(mayTake({ ...due, version: NO_VERSION }, { version: 'v2', takesOver }, { now: 0, living: [] })).toBe(true)
    expect(pinAfter(NO_VERSION, 'v2', true)).toBe(NO_VERSION)
    expect(pinAfter(NO_VERSION, 'v2', false)).toBe('v2')
    expect(pinAfter('v1', 'v2', true)).toBe('v2')
  })

  test('[N5] NO_HANDLER is reported if no living worker has the handler, or none has the version and the pin is hard (13.2.2)', () => {
    const worker = { version: 'v2', handlers: ['mail'], drains: false }
    expect(noHandlerFor(due, [worker])).toBeNull()
    expect(noHandlerFor(due, [{ ...worker, handlers: null }])).toBeNull()
    expect(noHandlerFor({ ...due, handler: 'gone' }, [worker, worker])).toBe(
      'a worker that has the handler gone: none of 2 running workers has it; start one whose system has it (NO_HANDLER)',
    )
    const hard = { ...worker, ownOnly: ['mail'] }
    expect(noHandlerFor(due, [hard])).toMatch(
      'a worker of version v1, which it is pinned to (pin: hard): none of 1 running workers',
    )
    expect(noHandlerFor(due, [hard, { ...hard, version: 'v1' }])).toBeNull()
    expect(noHandlerFor({ ...due, version: NO_VERSION }, [hard])).toBeNull()
  })
})
