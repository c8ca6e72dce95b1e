/** One submit: the fan-out over items, edits, votes, and reassignment. */
import { applyPatch } from 'rfc6902'
import { describe, expect, test } from 'vitest'
import { canonical } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import {
  action,
  ana,
  aSpec,
  bob,
  cfo,
  custom,
  document,
  eve,
  hashOf,
  history,
  isOpen,
  mails,
  open,
  person,
  submit,
  taskAfter,
  to,
  world,
} from '#test/support/stories/task-story.ts'
import { specify } from '#testing/spec.ts'
import type { Addressee, ItemChoice, Submit, TaskCommand, TaskFact } from './fact.ts'
import { votersOf } from './quorum.ts'
import type { Identity, TaskSpec } from './spec.ts'
import { task } from './task.ts'
import { decisionData, inboxRow, taskAnswer } from './view.ts'

const { given } = specify(task)
const REJECTED: ItemChoice = { status: 'rejected' }
const edited = (subject: string): ItemChoice => ({ status: 'edited', modifications: { subject } })

const refusedAs = (spec: TaskSpec, over: Partial<Submit> & { readonly action: string }): string | null => {
  const decision = task.decide(taskAfter(open(spec)), submit(over.action, { shownHash: hashOf(spec), ...over }))
  return decision.kind === 'refused' ? decision.code : null
}

describe('[C13] one decision of a bundle', () => {
  test('approves the items that it does not reject, with the edits, and says that it is partial', () => {
    const nine = aSpec({ sections: [mails(...'abcdefghi')] })
    const items = { b: edited('better'), f: REJECTED }
    const state = taskAfter(open(nine), submit('approve', { shownHash: hashOf(nine), items }))
    const answer = taskAnswer(state)
    expect(answer).toMatchObject({
      status: 'approved',
      approved: [...'abcdeghi'],
      rejected: ['f'],
      partial: true,
      modifications: { b: { subject: 'better' } },
    })
    expect(answer?.items.map(({ id, status }) => id + status.slice(0, 1)).join(' ')).toBe('aa be ca da ea fr ga ha ia')
    expect(answer === null ? null : decisionData('tsk_1', answer)).toMatchObject({
      bundle_id: 'tsk_1',
      decision: 'approve',
      approved: [...'abcdeghi'],
      rejected: ['f'],
      modifications: { b: { subject: 'better' } },
      decided_by: 'ana',
    })
  })

  test('applies to all items when it rejects', () => {
    expect(taskAnswer(taskAfter(open(), submit('reject')))).toMatchObject({ approved: [], rejected: ['a', 'b', 'c'] })
    expect(refusedAs(aSpec(), { action: 'reject', items: { a: { status: 'approved' } } })).toBe('MODIFICATION_INVALID')
  })

  test('with an action that marks only some items approves no others', () => {
    const some = custom('approve_some', { nextState: 'approved', marksApproved: ['a', 'texts'] })
    const texts = { ...mails('x', 'y'), id: 'texts' }
    const spec = aSpec({ actions: [some], sections: [mails('a', 'b'), texts] })
    const state = taskAfter(open(spec), submit('approve_some', { shownHash: hashOf(spec), items: { y: REJECTED } }))
    expect(taskAnswer(state)).toMatchObject({ approved: ['a', 'x'], rejected: ['y'], partial: true })
    expect(refusedAs(spec, { action: 'approve_some', items: { b: { status: 'approved' } } })).toBe(
      'MODIFICATION_INVALID',
    )
  })

  test('with an action that only completes approves the items that were approved one by one', () => {
    const spec = aSpec({ actions: [custom('done')] })
    const items = { b: { status: 'approved' as const } }
    const state = taskAfter(open(spec), submit('done', { shownHash: hashOf(spec), items }))
    expect(taskAnswer(state)).toMatchObject({ status: 'completed', approved: ['b'], rejected: [] })
  })
})

describe('[C6] an edit', () => {
  test('is stored as content, patch and hash, and approves the edited content', () => {
    const before = isOpen(taskAfter(open()))
    const told = history(open(), submit('edit', { items: { b: edited('better') } }))
    const change = told[1] as Extract<TaskFact, { type: 'task.edited' }>
    expect(told.map(({ type }) => type)).toEqual(['task.opened', 'task.edited', 'task.decided'])
    const content = structuredClone(before.items[1]?.content)
    applyPatch(content, change.edits[0]?.patch as never)
    expect(content).toEqual({ subject: 'better' })
    expect(change.edits[0]?.hash).toBe(world.digest(canonical({ subject: 'better' })))
    expect(change.previousHash).toBe(before.hash)
    expect(told[2]).toMatchObject({ action: 'edit', status: 'approved', hash: change.hash })
    expect(change.hash).not.toBe(before.hash)
  })

  test('can change a document, too, which is not one of the items', () => {
    const spec = aSpec({ sections: [document('letter', { text: 'Dear' }), mails('a')] })
    const items = { letter: { status: 'edited' as const, modifications: { text: 'Hello' } } }
    const answer = taskAnswer(taskAfter(open(spec), submit('edit', { shownHash: hashOf(spec), items })))
    expect(answer).toMatchObject({ approved: ['a'], modifications: { letter: { text: 'Hello' } }, partial: false })
    expect(answer?.items[0]).toMatchObject({ id: 'letter', status: 'edited', content: { text: 'Hello' } })
    expect(refusedAs(spec, { action: 'approve', items: { letter: REJECTED } })).toBe('MODIFICATION_INVALID')
  })

  const fixed = { ...mails('a'), editable: false }
  test.each<readonly [string, TaskSpec, Partial<Submit> & { readonly action: string }]>([
    ['does not fit the schema', aSpec(), { action: 'edit', items: { a: edited('') } }],
    ['changes nothing', aSpec(), { action: 'edit', items: { a: edited('about a') } }],
    ['names no item', aSpec(), { action: 'edit' }],
    ['names an unknown item', aSpec(), { action: 'edit', items: { z: edited('x') } }],
    ['says edited and brings nothing', aSpec(), { action: 'edit', items: { a: { status: 'edited' } } }],
    ['rejects at once', aSpec(), { action: 'edit', items: { a: { status: 'rejected', modifications: 1 } } }],
    ['is of a fixed section', aSpec({ sections: [fixed] }), { action: 'approve', items: { a: edited('x') } }],
    ['comes with a rejection of all', aSpec(), { action: 'reject', items: { a: edited('x') } }],
    ['comes with a request for changes', aSpec(), { action: 'request_edit', items: { a: edited('x') } }],
  ])('is refused if it %s', (_, spec, over) => expect(refusedAs(spec, over)).toBe('MODIFICATION_INVALID'))

  test('that restores the original content changes nothing', () => {
    const told = history(open(), submit('approve', { items: { a: edited('about a') } }))
    expect(told.map(({ type }) => type)).toEqual(['task.opened', 'task.decided'])
  })
})

describe('a quorum', () => {
  const zoe = person('zoe', 'editors')
  const two = aSpec({ quorum: { approve: 2, reject: 1 } })
  const shownHash = hashOf(two)
  const vote = (by: Identity, over: Partial<Submit> = {}): TaskCommand => submit('approve', { by, shownHash, ...over })

  test('task-4: is reached by distinct people; the first vote of each counts', () => {
    expect(isOpen(taskAfter(open(two), vote(ana))).votes).toMatchObject([{ by: 'ana', outcome: 'approved' }])
    given(...history(open(two), vote(ana)))
      .when(vote(ana))
      .thenRefused('ACTION_NOT_ALLOWED')
    given(...history(open(two), vote(ana)))
      .when(submit('reject', { shownHash }))
      .thenRefused('ACTION_NOT_ALLOWED')
    expect(taskAfter(open(two), vote(ana), vote(bob))).toMatchObject({ status: 'approved', end: { by: 'bob' } })
  })

  test('is counted separately for each outcome', () => {
    const reject = (spec: TaskSpec): TaskCommand => submit('reject', { by: bob, shownHash: hashOf(spec) })
    expect(taskAfter(open(two), vote(ana), reject(two))).toMatchObject({ status: 'rejected' })
    const both = aSpec({ quorum: { approve: 2, reject: 2 } })
    expect(taskAfter(open(both), submit('approve', { shownHash: hashOf(both) }), reject(both)).kind).toBe('open')
  })

  test('starts again when a person who has voted edits: they then approve the edited content', () => {
    const items = { a: edited('better') }
    const state = taskAfter(open(two), vote(ana), submit('edit', { shownHash, items }))
    expect(isOpen(state).votes.map(({ by, action: name }) => [by, name])).toEqual([['ana', 'edit']])
  })

  test('counts every action that approves, so that none bypasses it', () => {
    const spec = aSpec({ ...two, actions: [action('approve'), custom('wave_through', { nextState: 'approved' })] })
    expect(taskAfter(open(spec), submit('wave_through', { shownHash: hashOf(spec) })).kind).toBe('open')
  })

  test('approves only the items that each voter approved', () => {
    const state = taskAfter(open(two), vote(ana, { items: { a: REJECTED } }), vote(bob, { items: { b: REJECTED } }))
    expect(taskAnswer(state)).toMatchObject({ approved: ['c'], rejected: ['a', 'b'], partial: true })
  })

  test("task-3: starts again when a person edits, with the editor's vote as the first", () => {
    const commands = [open(two), vote(ana), submit('edit', { by: bob, shownHash, items: { a: edited('better') } })]
    const state = isOpen(taskAfter(...commands))
    expect(state.votes.map(({ by }) => by)).toEqual(['bob'])
    given(...history(...commands))
      .when(vote(zoe))
      .thenRefused('STALE_VIEW')
    expect(taskAfter(...commands, vote(ana, { shownHash: state.hash }))).toMatchObject({
      status: 'approved',
      end: { by: 'ana', action: 'approve', hash: state.hash },
    })
  })

  test('names everyone who took part in it', () => {
    const state = taskAfter(open(two), vote(ana), submit('edit', { by: bob, shownHash, items: { a: edited('x') } }))
    const answer = taskAnswer(taskAfter(open(two), vote(ana), vote(bob)))
    expect(answer?.deciders).toEqual(['ana', 'bob'])
    const closed = task.decide(state, submit('approve', { by: zoe, shownHash: isOpen(state).hash }))
    if (closed.kind !== 'facts') throw new Error('zoe may approve')
    expect(taskAnswer(fold(task, closed.facts, state))?.deciders).toEqual(['bob', 'zoe'])
  })

  test('cannot be made unreachable by a reassignment', () => {
    const handTo = (...ids: readonly string[]): TaskCommand =>
      submit('reassign', { shownHash: null, to: ids.map((id) => ({ id, kind: 'user' })) })
    given(...history(open(two)))
      .when(handTo('zoe'))
      .thenRefused('QUORUM_IMPOSSIBLE')
    expect(isOpen(taskAfter(open(two), handTo('zoe', 'bob'))).asked.users).toEqual(['zoe', 'bob'])
    expect(isOpen(taskAfter(open(two), vote(bob), handTo('zoe'))).asked.users).toEqual(['zoe'])
  })
})

describe('[C7] a quorum', () => {
  const user = (id: string): Addressee => ({ id, kind: 'user' })
  const handTo = (by: Identity, ...ids: readonly string[]): TaskCommand =>
    submit('reassign', { by, shownHash: null, to: ids.map(user) })

  test('task-9: a vote that an edit clears can be cast again by a person from whom the task was reassigned (14.4.5)', () => {
    const spec = aSpec({ quorum: { approve: 2, reject: 1 } })
    const shownHash = hashOf(spec)
    const before = [open(spec), submit('approve', { shownHash }), handTo(ana, 'bob')]
    const state = isOpen(taskAfter(...before, submit('edit', { by: bob, shownHash, items: { a: edited('x') } })))
    expect(state.votes.map(({ by }) => by)).toEqual(['bob'])
    expect(votersOf(state)).toEqual({ users: ['ana'], groups: [], except: ['bob'] })
    expect(inboxRow(state)?.asked.users).toEqual(['bob', 'ana'])
    const closed = task.decide(state, submit('approve', { shownHash: state.hash }))
    expect(closed).toMatchObject({ kind: 'facts', facts: [{ type: 'task.voted' }, { type: 'task.decided' }] })
  })

  test('task-9: a reassignment is refused if votes on both sides could then end in a tie (14.4.5)', () => {
    const spec = aSpec({ quorum: { approve: 2, reject: 2 } })
    given(...history(open(spec)))
      .when(handTo(ana, 'bob', 'eve'))
      .thenRefused('QUORUM_IMPOSSIBLE')
    expect(isOpen(taskAfter(open(spec), handTo(ana, 'bob', 'eve', 'cfo'))).asked.users).toHaveLength(3)
  })

  test('task-9: a task that too few people may decide is not opened (14.4.5)', () => {
    const levels = [{ to: to('ana', 'bob'), deadline: null }]
    given()
      .when(open(aSpec({ levels, quorum: { approve: 2, reject: 1 }, excluded: ['bob'] })))
      .thenRefused('QUORUM_IMPOSSIBLE')
    given()
      .when(open(aSpec({ levels, excluded: ['ana', 'bob'] })))
      .thenRefused('QUORUM_IMPOSSIBLE')
  })
})

describe('[C7] a reassignment', () => {
  const handTo = (to: readonly Addressee[], by = ana): TaskCommand => submit('reassign', { by, to, shownHash: null })
  const user = (id: string): Addressee => ({ id, kind: 'user' })

  test('moves the task, its claim and the permission to decide', () => {
    const state = isOpen(taskAfter(open(), { type: 'claim_task', now: 1, by: ana }, handTo([user('eve')])))
    expect(state).toMatchObject({ asked: to('eve'), deciders: to('eve'), claimedBy: null, status: 'pending' })
    expect(inboxRow(state)).toMatchObject({ asked: to('eve'), isOpen: true })
    expect(taskAfter(open(), handTo([user('eve')]), submit('approve'))).toHaveProperty('kind', 'open')
    expect(taskAfter(open(), handTo([user('eve')]), submit('approve', { by: eve }))).toHaveProperty('kind', 'closed')
  })

  test('does not change the deadline', () => {
    const spec = aSpec({ levels: [{ to: to('group:editors'), deadline: { kind: 'after', ms: 99 } }] })
    const moved = { ...handTo([user('eve')]), now: 50 }
    expect(isOpen(taskAfter(open(spec), moved)).deadlineAt).toBe(99)
  })

  test.each<readonly [string, readonly Addressee[], string]>([
    ['an agent', [{ id: 'bot', kind: 'agent' }], 'ACTION_NOT_ALLOWED'],
    ['a service', [user('bob'), { id: 'api', kind: 'service' }], 'ACTION_NOT_ALLOWED'],
    ['an excluded person', [user('rita')], 'SEPARATION_OF_DUTIES'],
    ['nobody', [], 'FIELDS_REQUIRED'],
  ])('to %s is refused', (_, target, code) =>
    expect(refusedAs(aSpec({ excluded: ['rita'] }), { action: 'reassign', to: target })).toBe(code),
  )

  test('happens at most twenty times', () => {
    const round = Array.from({ length: 20 }, () => handTo([user('ana')]))
    expect(isOpen(taskAfter(open(), ...round)).reassigned).toBe(20)
    given(...history(open(), ...round))
      .when(handTo([user('bob')]))
      .thenRefused('ACTION_NOT_ALLOWED')
  })
})

describe('[C8] an escalation', () => {
  const spec = aSpec({
    levels: [
      { to: to('group:editors'), deadline: null },
      { to: to('cfo'), deadline: null },
    ],
    excluded: ['bob'],
  })
  const up = submit('escalate', { shownHash: null, reason: 'above me' })

  test('asks the next level; the people asked before may still decide', () => {
    const state = isOpen(taskAfter(open(spec), up))
    expect(state).toMatchObject({ asked: to('cfo'), deciders: { users: ['cfo'], groups: ['editors'] } })
    expect(inboxRow(state)).toMatchObject({ level: 1, escalationReason: 'above me' })
    for (const by of [cfo, ana])
      expect(taskAfter(open(spec), up, submit('approve', { by, shownHash: hashOf(spec) }))).toHaveProperty(
        'kind',
        'closed',
      )
  })

  test('task-2: still refuses excluded people', () =>
    given(...history(open(spec), up))
      .when(submit('approve', { by: bob, shownHash: hashOf(spec) }))
      .thenRefused('SEPARATION_OF_DUTIES'))
})
