/** The rules of a task, one by one: who closes it, with what, and what is refused in which order. */
import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '#model/kernel/errors.ts'
import {
  action,
  ana,
  aSpec,
  bob,
  claim,
  custom,
  eve,
  hashOf,
  history,
  isOpen,
  mails,
  open,
  person,
  revise,
  submit,
  taskAfter,
  unclaim,
  view,
  withdraw,
} from '#test/support/stories/task-story.ts'
import { specify } from '#testing/spec.ts'
import type { Submit, TaskCommand } from './fact.ts'
import { task } from './task.ts'
import { taskAnswer } from './view.ts'

const { given } = specify(task)
const opened = history(open())
const HASH = hashOf()

const refusedAs = (commands: readonly TaskCommand[], command: TaskCommand): ErrorCode | null => {
  const decision = task.decide(taskAfter(...commands), command)
  return decision.kind === 'refused' ? decision.code : null
}

describe('a task', () => {
  test('does not exist before it is opened', () => given().when(view(ana)).thenRefused('NOT_FOUND'))

  test('is opened once, however often it is requested', () =>
    given(...opened)
      .when(open(aSpec({ title: 'Another' }), 5))
      .thenNothing())

  test('[C5] is approved by one of its people, and records who and when', () => {
    given(...opened)
      .when(submit('approve', { now: 7 }))
      .thenFacts({
        type: 'task.decided',
        at: 7,
        by: 'ana',
        action: 'approve',
        reason: 'because',
        hash: HASH,
        request: null,
        status: 'approved',
        fields: {},
        approved: ['a', 'b', 'c'],
        rejected: [],
      })
  })

  test('[C14] answers with decision, feedback, person and time', () => {
    const answer = taskAnswer(taskAfter(open(), submit('reject', { now: 9, by: bob, reason: 'too long' })))
    expect(answer).toMatchObject({
      status: 'rejected',
      decision: 'reject',
      feedback: 'too long',
      decidedBy: 'bob',
      decidedAt: 9,
      modifications: null,
      rejected: ['a', 'b', 'c'],
    })
  })

  test('[C1] has no answer until someone decides, however late it is', () =>
    expect(taskAnswer(taskAfter(open(), view(ana, 10 ** 12)))).toBeNull())

  test('task-1: that is closed names its decider to a person who decides later', () => {
    const decision = task.decide(taskAfter(open(), submit('approve')), submit('reject', { by: bob }))
    expect(decision).toMatchObject({ kind: 'refused', code: 'TASK_CLOSED' })
    expect(decision).toHaveProperty('detail', expect.stringContaining('ana'))
  })

  test('is withdrawn with its run, and that is final', () => {
    const state = taskAfter(open(), withdraw(3), submit('approve'))
    expect(state).toMatchObject({ kind: 'closed', status: 'withdrawn' })
    expect(taskAnswer(state)).toMatchObject({ decision: 'withdrawn', decidedBy: null, feedback: 'cancelled' })
  })

  test('with two items of the same id is refused', () =>
    given()
      .when(open(aSpec({ sections: [mails('a', 'a')] })))
      .thenRefused('INPUT_INVALID'))

  test('with more than 1,000 items is refused', () => {
    const ids = Array.from({ length: 1_001 }, (_, i) => `m${i}`)
    given()
      .when(open(aSpec({ sections: [mails(...ids)] })))
      .thenRefused('INPUT_INVALID')
    expect(taskAfter(open(aSpec({ sections: [mails(...ids.slice(1))] })))).toHaveProperty('kind', 'open')
  })
})

describe('checks', () => {
  const agent = { id: 'ana', kind: 'agent' as const, groups: ['editors'] }
  const closed = [open(), submit('approve', { by: bob })]
  /** Each row has its own fault and every later one. */
  const faults: readonly (readonly [ErrorCode, readonly TaskCommand[], Partial<Submit>])[] = [
    ['AGENT_CANNOT_DECIDE', closed, { by: { ...agent, groups: [] }, shownHash: 'old', action: 'nope' }],
    ['TASK_FORBIDDEN', closed, { by: eve, shownHash: 'old', action: 'nope' }],
    ['TASK_CLOSED', closed, { shownHash: 'old', action: 'nope' }],
    ['STALE_VIEW', [open()], { shownHash: 'old', action: 'nope', reason: null }],
    ['ACTION_NOT_ALLOWED', [open()], { action: 'nope', reason: null, items: { z: { status: 'approved' } } }],
    ['REASON_REQUIRED', [open()], { action: 'reject', reason: ' ', items: { z: { status: 'approved' } } }],
    ['MODIFICATION_INVALID', [open()], { action: 'approve', items: { z: { status: 'approved' } } }],
  ]

  test.each(faults)('find %s before every later fault', (code, past, over) =>
    expect(refusedAs(past, submit('approve', over))).toBe(code),
  )

  test('find an excluded person before a closed task', () => {
    const spec = aSpec({ excluded: ['ana'] })
    const closedSpec = [open(spec), submit('approve', { by: bob, shownHash: hashOf(spec) })]
    expect(refusedAs(closedSpec, submit('approve', { shownHash: 'old' }))).toBe('SEPARATION_OF_DUTIES')
  })

  test('[C10] find a required field that is missing, empty or null', () => {
    const spec = aSpec({ actions: [action('respond', { requiredFields: ['budget', 'owner'] })] })
    const respond = (fields: Submit['fields']): TaskCommand => submit('respond', { fields, shownHash: hashOf(spec) })
    for (const fields of [{}, { budget: 1 }, { budget: 1, owner: '' }, { budget: null, owner: 'x' }])
      expect(refusedAs([open(spec)], respond(fields))).toBe('FIELDS_REQUIRED')
    expect(taskAnswer(taskAfter(open(spec), respond({ budget: 0, owner: 'x' })))).toMatchObject({
      status: 'completed',
      fields: { budget: 0, owner: 'x' },
    })
  })

  test('[C9] validate an answer against the schema of its action', () => {
    const fieldsSchema = { type: 'object', properties: { n: { type: 'integer' } } }
    const spec = aSpec({ actions: [action('respond', { fieldsSchema })] })
    const respond = (n: string | number): TaskCommand =>
      submit('respond', { fields: { n }, shownHash: hashOf(spec), reason: 'as counted' })
    expect(refusedAs([open(spec)], respond('many'))).toBe('MODIFICATION_INVALID')
    expect(taskAnswer(taskAfter(open(spec), respond(4)))).toMatchObject({ fields: { n: 4 }, feedback: 'as counted' })
  })

  test('refuse a submit without the hash of what was shown, except for a reassignment', () => {
    expect(refusedAs([open()], submit('approve', { shownHash: null }))).toBe('STALE_VIEW')
    const handOver = submit('reassign', { shownHash: null, to: [{ id: 'bob', kind: 'user' }] })
    expect(refusedAs([open()], handOver)).toBeNull()
  })
})

describe('a repeated request', () => {
  const request = { key: 'k1', hash: 'h1' }

  test('task-6: changes nothing, even after the task is closed', () => {
    expect(task.decide(taskAfter(open(), submit('approve', { request })), submit('approve', { request }))).toEqual({
      kind: 'facts',
      facts: [],
    })
    const held = custom('hold', { terminal: false, nextState: 'pending' })
    const spec = aSpec({ actions: [held] })
    const hold = submit('hold', { request, shownHash: hashOf(spec) })
    given(...history(open(spec), hold))
      .when(hold)
      .thenNothing()
  })

  test('with another body is refused', () =>
    given(...history(open(), submit('approve', { request })))
      .when(submit('approve', { request: { key: 'k1', hash: 'h2' } }))
      .thenRefused('IDEMPOTENCY_MISMATCH'))

  test('from an agent is refused before the key is looked up', () =>
    given(...history(open(), submit('approve', { request })))
      .when(submit('approve', { request, by: { id: 'ana', kind: 'service', groups: ['editors'] } }))
      .thenRefused('AGENT_CANNOT_DECIDE'))
})

describe('[D4] viewed', () => {
  test('is recorded once per person, and puts the task in review', () => {
    given(...opened)
      .when(view(ana, 2))
      .thenFacts({ type: 'task.viewed', at: 2, by: 'ana', first: true })
    const seen = taskAfter(open(), view(ana, 2))
    expect(seen).toMatchObject({ status: 'in_review', viewing: { by: 'ana' } })
    expect(task.decide(seen, view(ana, 3))).toEqual({ kind: 'facts', facts: [] })
  })

  test('by an agent, a stranger or an excluded person records nothing', () => {
    const spec = aSpec({ excluded: ['bob'] })
    for (const who of [{ ...ana, kind: 'agent' as const }, eve, bob])
      expect(task.decide(taskAfter(open(spec)), view(who))).toEqual({ kind: 'facts', facts: [] })
  })

  test('is a soft lock of five minutes that blocks no one', () => {
    const seen = taskAfter(open(), view(ana, 0))
    expect(isOpen(seen).viewing).toEqual({ by: 'ana', until: 300_000 })
    expect(refusedAs([open(), view(ana, 0)], submit('approve', { by: bob }))).toBeNull()
    given(...history(open(), view(ana, 0)))
      .when(view(ana, 300_000))
      .thenFacts({ type: 'task.viewed', at: 300_000, by: 'ana', first: false })
  })
})

describe('[C7] a claim', () => {
  test('belongs to one person until they give it back', () => {
    expect(isOpen(taskAfter(open(), claim(ana))).claimedBy).toBe('ana')
    expect(refusedAs([open(), claim(ana)], claim(bob))).toBe('TASK_CLAIMED')
    expect(refusedAs([open(), claim(ana)], unclaim(bob))).toBe('TASK_CLAIMED')
    expect(isOpen(taskAfter(open(), claim(ana), unclaim(ana), claim(bob))).claimedBy).toBe('bob')
  })

  test('does not stop another from deciding', () =>
    expect(taskAfter(open(), claim(ana), submit('approve', { by: bob }))).toMatchObject({ kind: 'closed' }))

  test('is not for strangers, nor for a closed task', () => {
    expect(refusedAs([open()], claim(eve))).toBe('TASK_FORBIDDEN')
    expect(refusedAs([open(), submit('approve')], claim(bob))).toBe('TASK_CLOSED')
  })
})

describe('[C17] drafts and follow-ups', () => {
  const draft = (by = ana, content: string | null = 'half', item: string | null = 'a'): TaskCommand => ({
    type: 'save_draft',
    now: 4,
    by,
    item,
    content,
  })

  test('are kept per item and person, only the last one', () => {
    const { drafts } = isOpen(taskAfter(open(), draft(), draft(bob), draft(ana, 'more'), draft(ana, 'note', null)))
    expect(drafts.map(({ by, item, content }) => [by, item, content])).toEqual([
      ['bob', 'a', 'half'],
      ['ana', 'a', 'more'],
      ['ana', null, 'note'],
    ])
    expect(isOpen(taskAfter(open(), draft(), draft(ana, null))).drafts).toMatchObject([{ content: null }])
  })

  test('belong to an older revision once the content has changed', () => {
    const state = isOpen(taskAfter(open(), draft(), revise(5, mails('a'))))
    expect([state.revision, state.drafts[0]?.revision]).toEqual([2, 1])
  })

  test('decide nothing, and need an item that exists', () => {
    expect(taskAfter(open(), draft())).toMatchObject({ kind: 'open', status: 'pending' })
    expect(refusedAs([open()], draft(ana, 'x', 'nope'))).toBe('NOT_FOUND')
  })

  test('a follow-up is set and removed for one person', () => {
    const later = (until: number | null): TaskCommand => ({ type: 'set_follow_up', now: 1, by: ana, until })
    expect(isOpen(taskAfter(open(), later(99))).followUps).toEqual([{ by: 'ana', until: 99 }])
    expect(isOpen(taskAfter(open(), later(99), later(null))).followUps).toEqual([])
  })
})

describe('a revision', () => {
  const asked = submit('request_edit', { now: 10, reason: 'shorter' })

  test('is requested with feedback, and the task waits for it', () => {
    const state = taskAfter(open(), asked)
    expect(state).toMatchObject({ kind: 'open', status: 'revision_requested' })
    expect(taskAnswer(state)).toMatchObject({ decision: 'request_edit', feedback: 'shorter', decidedBy: 'ana' })
    expect(refusedAs([open(), asked], submit('approve', { by: bob }))).toBe('ACTION_NOT_ALLOWED')
  })

  test('task-3: has a new hash, so that the old view no longer counts', () => {
    const state = isOpen(taskAfter(open(), asked, revise(20, mails('a', 'd'))))
    expect(state).toMatchObject({ status: 'pending', revision: 2 })
    expect(taskAnswer(state)).toBeNull()
    expect(refusedAs([open(), asked, revise(20, mails('a', 'd'))], submit('approve'))).toBe('STALE_VIEW')
    expect(
      taskAfter(open(), asked, revise(20, mails('a', 'd')), submit('approve', { shownHash: state.hash })),
    ).toMatchObject({
      end: { approved: ['a', 'd'] },
    })
  })
})

test('custom actions close a task or leave it open, as declared', () => {
  const hold = custom('hold', { terminal: false, nextState: 'pending' })
  const spec = aSpec({ type: 'decision', actions: [hold, custom('take_plan_b')] })
  const shownHash = hashOf(spec)
  expect(taskAfter(open(spec), view(ana), submit('hold', { shownHash }))).toMatchObject({
    kind: 'open',
    status: 'pending',
  })
  expect(taskAfter(open(spec), submit('take_plan_b', { shownHash, by: person('zoe', 'editors') }))).toMatchObject({
    status: 'completed',
    end: { action: 'take_plan_b', by: 'zoe', approved: [], rejected: [] },
  })
})
