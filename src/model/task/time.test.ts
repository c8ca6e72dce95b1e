/** The effect of time on a task: deadlines, automatic actions, reminders, levels. */
import { describe, expect, test } from 'vitest'
import type { Instant } from '#model/kernel/ids.ts'
import {
  action,
  aSpec,
  cfo,
  custom,
  HOUR,
  hashOf,
  history,
  isOpen,
  mails,
  open,
  passTime,
  revise,
  submit,
  taskAfter,
  to,
  withdraw,
} from '#test/support/stories/task-story.ts'
import { specify } from '#testing/spec.ts'
import type { TaskCommand, TaskFact } from './fact.ts'
import type { Level, TaskSpec } from './spec.ts'
import { task } from './task.ts'
import { taskWakeAt } from './time.ts'
import { taskAnswer } from './view.ts'

const { given } = specify(task)

const DUE_48H: Level = { to: to('group:editors'), deadline: { kind: 'after', ms: 48 * HOUR } }
const late = (over: Partial<TaskSpec> = {}): TaskSpec => aSpec({ levels: [DUE_48H], ...over })
const LEADS: Level = { to: to('group:leads'), deadline: { kind: 'after', ms: 24 * HOUR } }
const REMINDERS = { kind: 'before', beforeMs: [24 * HOUR, 4 * HOUR] } as const
const wakeAt = (...commands: readonly TaskCommand[]): Instant | null => taskWakeAt(taskAfter(...commands))
const timedOut = (at: Instant, level = 0): TaskFact => ({ type: 'task.timed_out', at, level })
const reminded = (at: Instant, n: number, level = 0): TaskFact => ({ type: 'task.reminded', at, level, n })

describe('[C11] a deadline', () => {
  test('does not pass before its instant, and wakes the task then', () => {
    given(...history(open(late())))
      .when(passTime(48 * HOUR - 1))
      .thenNothing()
    expect(wakeAt(open(late()))).toBe(48 * HOUR)
  })

  test('that passes is recorded once, and the task stays open', () => {
    given(...history(open(late())))
      .when(passTime(48 * HOUR))
      .thenFacts(timedOut(48 * HOUR))
    const state = taskAfter(open(late()), passTime(48 * HOUR))
    expect(task.decide(state, passTime(99 * HOUR))).toEqual({ kind: 'facts', facts: [] })
    expect([taskWakeAt(state), isOpen(state).timedOut]).toEqual([null, true])
  })

  test('that has passed still allows a decision', () =>
    expect(
      taskAfter(open(late()), passTime(48 * HOUR), submit('approve', { now: 50 * HOUR, shownHash: hashOf(late()) })),
    ).toMatchObject({ status: 'approved' }))

  test.each([
    ['approve', 'approved'],
    ['reject', 'rejected'],
    ['plan_b', 'completed'],
  ])('may %s automatically: done by the system, because of the deadline', (autoAction, status) => {
    const spec = late({ autoAction, actions: [...aSpec().actions, custom('plan_b')] })
    expect(taskAnswer(taskAfter(open(spec), passTime(48 * HOUR)))).toMatchObject({
      status,
      decision: autoAction,
      decidedBy: 'system',
      decidedAt: 48 * HOUR,
      feedback: 'deadline',
    })
  })

  test('may expire the task', () =>
    expect(taskAnswer(taskAfter(open(late({ autoAction: 'expire' })), passTime(48 * HOUR)))).toMatchObject({
      status: 'expired',
      decision: 'expired',
      decidedBy: null,
    }))

  test('may perform an action that leaves the task open', () => {
    const hold = custom('hold', { terminal: false, nextState: 'pending' })
    const spec = late({ autoAction: 'hold', actions: [action('approve'), hold] })
    expect(history(open(spec), passTime(48 * HOUR)).map(({ type }) => type)).toEqual([
      'task.opened',
      'task.timed_out',
      'task.acted',
    ])
  })

  test('and a decision at the same instant: the first in the ledger closes the task', () => {
    const spec = late({ autoAction: 'reject' })
    const decided = submit('approve', { now: 48 * HOUR, shownHash: hashOf(spec) })
    expect(taskAfter(open(spec), decided, passTime(48 * HOUR))).toMatchObject({ end: { by: 'ana' } })
    expect(taskAfter(open(spec), passTime(48 * HOUR), decided)).toMatchObject({ end: { by: 'system' } })
  })

  test('given as an instant is due at once if it has passed', () => {
    const spec = late({ levels: [{ to: to('ana'), deadline: { kind: 'at', at: 5 } }] })
    expect(wakeAt(open(spec, 10))).toBe(5)
    given(...history(open(spec, 10)))
      .when(passTime(10))
      .thenFacts(timedOut(10))
  })

  test('does nothing to a task that was withdrawn', () =>
    given(...history(open(late()), withdraw()))
      .when(passTime(48 * HOUR))
      .thenNothing())
})

describe('[C8] levels', () => {
  const chain = late({ levels: [DUE_48H, LEADS, { to: to('cfo'), deadline: null }], autoAction: 'escalate' })

  test('are escalated by the system when a deadline passes, each with its own deadline from then on', () => {
    const state = isOpen(taskAfter(open(chain), passTime(50 * HOUR)))
    expect(state).toMatchObject({
      level: 1,
      status: 'pending',
      asked: to('group:leads'),
      deadlineAt: 74 * HOUR,
      timedOut: false,
      escalation: { by: 'system', reason: 'deadline' },
    })
  })

  test('time out once each, and the last one stays open', () => {
    const told = history(open(chain), passTime(50 * HOUR), passTime(80 * HOUR), passTime(999 * HOUR))
    expect(told.filter(({ type }) => type === 'task.timed_out')).toEqual([timedOut(50 * HOUR), timedOut(80 * HOUR, 1)])
    expect(isOpen(taskAfter(open(chain), passTime(50 * HOUR), passTime(80 * HOUR))).level).toBe(2)
  })

  test('whose deadlines are in the past are escalated at once', () => {
    const past: Level = { to: to('group:leads'), deadline: { kind: 'at', at: 1 } }
    const spec = late({ levels: [past, past, LEADS], autoAction: 'escalate' })
    expect(isOpen(taskAfter(open(spec, 10), passTime(10)))).toMatchObject({ level: 2, deadlineAt: 10 + 24 * HOUR })
  })

  test('are escalated by a person with a reason, and not above the last', () => {
    const up = (now: Instant): TaskCommand =>
      submit('escalate', { now, by: { ...cfo, groups: ['editors'] }, shownHash: null })
    const climbed = [open(chain), up(1), up(2)]
    expect(isOpen(taskAfter(...climbed))).toMatchObject({ level: 2, escalation: { by: 'cfo', reason: 'because' } })
    given(...history(...climbed))
      .when(up(3))
      .thenRefused('ESCALATION_EXHAUSTED')
    given(...history(open(chain)))
      .when({ ...submit('escalate', { shownHash: null, reason: null }) })
      .thenRefused('REASON_REQUIRED')
  })
})

describe('[C12] reminders', () => {
  const spec = late({ reminders: REMINDERS })

  test('come before the deadline, and wake the task', () => {
    expect(wakeAt(open(spec))).toBe(24 * HOUR)
    given(...history(open(spec)))
      .when(passTime(24 * HOUR))
      .thenFacts(reminded(24 * HOUR, 1))
    expect(wakeAt(open(spec), passTime(24 * HOUR))).toBe(44 * HOUR)
    expect(wakeAt(open(spec), passTime(24 * HOUR), passTime(44 * HOUR))).toBe(48 * HOUR)
  })

  test('are sent once, even when the clock is set back', () =>
    given(...history(open(spec), passTime(25 * HOUR)))
      .when(passTime(24 * HOUR))
      .thenNothing())

  test('that were missed are replaced by the latest', () =>
    given(...history(open(spec)))
      .when(passTime(45 * HOUR))
      .thenFacts(reminded(45 * HOUR, 2)))

  test('that were missed together with the deadline are not sent at all', () =>
    given(...history(open(spec)))
      .when(passTime(48 * HOUR))
      .thenFacts(timedOut(48 * HOUR)))

  test('that were due before the level was reached are not sent to its people', () => {
    const short: Level = { to: to('cfo'), deadline: { kind: 'after', ms: 5 * HOUR } }
    const levels = [DUE_48H, short]
    const climbed = [open(late({ reminders: REMINDERS, levels, autoAction: 'escalate' })), passTime(48 * HOUR)]
    expect(history(...climbed).filter(({ type }) => type === 'task.reminded')).toEqual([])
    expect(wakeAt(...climbed)).toBe(49 * HOUR)
    given(...history(...climbed))
      .when(passTime(49 * HOUR))
      .thenFacts(reminded(49 * HOUR, 2, 1))
  })

  test('start again on each level', () => {
    const levels = [DUE_48H, DUE_48H]
    const climbed = late({ reminders: REMINDERS, levels, autoAction: 'escalate' })
    const told = history(open(climbed), ...[44, 48, 72].map((hour) => passTime(hour * HOUR)))
    expect(told.filter(({ type }) => type === 'task.reminded')).toEqual([
      reminded(44 * HOUR, 2),
      reminded(72 * HOUR, 1, 1),
    ])
  })

  test('at intervals continue after the deadline, up to their maximum', () => {
    const reminders = { kind: 'every', everyMs: 24 * HOUR, startAfterMs: 12 * HOUR, max: 3 } as const
    const repeated = late({ reminders })
    const told = history(open(repeated), ...[12, 36, 47, 60, 84, 108].map((hour) => passTime(hour * HOUR)))
    expect(told.slice(1)).toEqual([
      reminded(12 * HOUR, 1),
      reminded(36 * HOUR, 2),
      timedOut(60 * HOUR),
      reminded(60 * HOUR, 3),
    ])
  })

  test('end with the task', () =>
    given(...history(open(spec), submit('approve', { shownHash: hashOf(spec) })))
      .when(passTime(24 * HOUR))
      .thenNothing())
})

describe('a revision', () => {
  const spec = late({ reminders: REMINDERS, autoAction: 'approve' })
  const asked = [open(spec), passTime(24 * HOUR), submit('request_edit', { now: 30 * HOUR, shownHash: hashOf(spec) })]

  test('stops the clock: a task that waits for content cannot be late, nor approved automatically', () => {
    expect(wakeAt(...asked)).toBeNull()
    given(...history(...asked))
      .when(passTime(99 * HOUR))
      .thenNothing()
  })

  test("adds the time that it took to the deciders' time", () => {
    const back = [...asked, revise(40 * HOUR, mails('a'))]
    expect(isOpen(taskAfter(...back)).deadlineAt).toBe(58 * HOUR)
    expect(wakeAt(...back)).toBe(54 * HOUR)
  })
})
