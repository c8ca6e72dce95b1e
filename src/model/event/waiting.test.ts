/** Timers, waits for events and calls of children as decisions of the run. Matching alone is tested in wait.test.ts. */
import { describe, expect, test } from 'vitest'
import { inline, NOTHING } from '#model/kernel/payload.ts'
import type { RunFact } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'
import {
  aWait,
  BROKEN,
  CHILD,
  command,
  fact,
  liveAfter,
  OTHER_CHILD,
  started,
} from '#test/support/stories/run-story.ts'
import { specify } from '#testing/spec.ts'

const { given } = specify(run)
const settledAfter = (...history: readonly RunFact[]) => liveAfter(started(), ...history).settled.get('mail')
const openAfter = (...history: readonly RunFact[]) => liveAfter(started(), ...history).open.get('mail')

const BEGUN: readonly (readonly [string, RunFact])[] = [
  ['sleeps', fact('timer.set')],
  ['waits for an event', fact('wait.opened')],
  ['waits for a child', fact('child.started')],
  ['is done', fact('step.completed')],
]

describe('timers', () => {
  test('[H3] a timer is set to an instant', () => {
    given(started()).when(command('set_timer')).thenFacts(fact('timer.set'))
    expect(openAfter(fact('timer.set'))).toEqual({ kind: 'sleeping', wakeAt: 50 })
  })

  test('waiting-1: [R9][V24] a timer fires at its instant and not a millisecond early', () => {
    given(started(), fact('timer.set'))
      .when(command('pass_time', { now: 49 }))
      .thenNothing()
    given(started(), fact('timer.set'))
      .when(command('pass_time', { now: 50 }))
      .thenFacts(fact('timer.fired', { at: 50 }))
  })

  test('a fired timer settles its step', () =>
    expect(settledAfter(fact('timer.set'), fact('timer.fired'))).toEqual({ kind: 'done', result: NOTHING }))

  test.each(BEGUN)('waiting-2: a timer is not set for a step that %s', (_, begun) =>
    given(started(), begun)
      .when(command('set_timer', { wakeAt: 90 }))
      .thenNothing(),
  )

  test('everything that is due ends ordered by instant, then by name', () => {
    const at = (step: string, wakeAt: number) => fact('timer.set', { step, wakeAt })
    const timeout = fact('wait.opened', { step: 'a', wait: aWait({ timeoutAt: 30 }) })
    given(started(), at('z', 20), at('c', 30), at('b', 30), timeout, at('later', 31))
      .when(command('pass_time', { now: 30 }))
      .thenFacts(
        fact('timer.fired', { at: 30, step: 'z' }),
        fact('wait.timed_out', { at: 30, step: 'a' }),
        fact('timer.fired', { at: 30, step: 'b' }),
        fact('timer.fired', { at: 30, step: 'c' }),
      )
  })
})

describe('events', () => {
  test('[C1] a wait is opened', () => {
    given(started()).when(command('open_wait')).thenFacts(fact('wait.opened'))
    expect(openAfter(fact('wait.opened'))).toEqual({ kind: 'waiting', wait: { spec: aWait(), received: [] } })
  })

  test.each(BEGUN)('waiting-2: a wait is not opened for a step that %s', (_, begun) =>
    given(started(), begun)
      .when(command('open_wait', { wait: aWait({ base: 7 }) }))
      .thenNothing(),
  )

  test('an awaited event is received, and settles the step', () => {
    given(started(), fact('wait.opened')).when(command('receive_event')).thenFacts(fact('wait.received'))
    expect(settledAfter(fact('wait.opened'), fact('wait.received'))).toEqual({
      kind: 'received',
      events: [{ type: 'mail.read', sequence: 101 }],
      timedOut: false,
      missing: [],
    })
  })

  test.each([
    ['of another type', { type: 'mail.lost', sequence: 101 }],
    ['at the base', { type: 'mail.read', sequence: 100 }],
  ])('wait-1: an event %s does not count', (_, event) =>
    given(started(), fact('wait.opened')).when(command('receive_event', { event })).thenNothing(),
  )

  test('wait-1: an event for a step that does not wait does not count', () => {
    given(started()).when(command('receive_event')).thenNothing()
    given(started(), fact('timer.set')).when(command('receive_event')).thenNothing()
    given(started(), fact('wait.opened'), fact('wait.received')).when(command('receive_event')).thenNothing()
  })

  describe('all of several', () => {
    const both = fact('wait.opened', { wait: aWait({ mode: 'all', types: ['mail.read', 'mail.paid'], timeoutAt: 50 }) })
    const paid = { type: 'mail.paid', sequence: 102 }

    test('wait-1: [A8] each type counts once, and so does each event', () => {
      const history = [started(), both, fact('wait.received')]
      given(...history)
        .when(command('receive_event'))
        .thenNothing()
      given(...history)
        .when(command('receive_event', { event: { type: 'mail.read', sequence: 103 } }))
        .thenNothing()
      given(...history)
        .when(command('receive_event', { event: paid }))
        .thenFacts(fact('wait.received', { event: paid }))
    })

    test('wait-2: [A8] the last missing event settles the step, with all events in the order in which they came', () => {
      expect(openAfter(both, fact('wait.received'))).toMatchObject({
        wait: { received: [{ type: 'mail.read', sequence: 101 }] },
      })
      expect(settledAfter(both, fact('wait.received', { event: paid }), fact('wait.received'))).toEqual({
        kind: 'received',
        events: [paid, { type: 'mail.read', sequence: 101 }],
        timedOut: false,
        missing: [],
      })
    })

    test('wait-2: [A8] a timeout ends the wait with the events so far and names the missing types', () => {
      const history = [both, fact('wait.received')]
      given(started(), ...history)
        .when(command('pass_time', { now: 50 }))
        .thenFacts(fact('wait.timed_out', { at: 50 }))
      expect(settledAfter(...history, fact('wait.timed_out'))).toEqual({
        kind: 'received',
        events: [{ type: 'mail.read', sequence: 101 }],
        timedOut: true,
        missing: ['mail.paid'],
      })
    })

    test('waiting-1: a timeout is never early', () =>
      given(started(), both)
        .when(command('pass_time', { now: 49 }))
        .thenNothing())
  })

  test('wait-2: a wait without a timeout does not end by time', () =>
    given(started(), fact('wait.opened'))
      .when(command('pass_time', { now: 1e12 }))
      .thenNothing())

  test('an event or timeout for a wait that is not open changes no state', () => {
    expect(liveAfter(started(), fact('wait.received'), fact('wait.timed_out'))).toEqual(liveAfter(started()))
    expect(openAfter(fact('timer.set'), fact('wait.received'), fact('wait.timed_out'))).toEqual({
      kind: 'sleeping',
      wakeAt: 50,
    })
  })
})

describe('children', () => {
  test('a child is started', () => {
    given(started()).when(command('start_child')).thenFacts(fact('child.started'))
    expect(openAfter(fact('child.started'))).toEqual({ kind: 'calling', child: CHILD, handler: 'print' })
  })

  test.each(BEGUN)('waiting-2: a child is not started for a step that %s', (_, begun) =>
    given(started(), begun)
      .when(command('start_child', { child: OTHER_CHILD }))
      .thenNothing(),
  )

  test("the result of a child is the result of the step, and its failure is the step's failure", () => {
    given(started(), fact('child.started')).when(command('end_child')).thenFacts(fact('child.ended'))
    expect(settledAfter(fact('child.started'), fact('child.ended'))).toEqual({
      kind: 'done',
      result: inline('printed'),
    })
    expect(
      settledAfter(fact('child.started'), fact('child.ended', { end: { kind: 'failed', error: BROKEN } })),
    ).toEqual({
      kind: 'failed',
      error: BROKEN,
      call: { child: CHILD, handler: 'print' },
    })
  })

  test('the end of a child that the run does not wait for changes nothing', () => {
    given(started()).when(command('end_child')).thenNothing()
    given(started(), fact('timer.set')).when(command('end_child')).thenNothing()
    given(started(), fact('child.started'))
      .when(command('end_child', { child: OTHER_CHILD }))
      .thenNothing()
    given(started(), fact('child.started'), fact('child.ended')).when(command('end_child')).thenNothing()
  })
})
