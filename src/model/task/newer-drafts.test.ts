/** task-7: a decision is refused if it ignores a draft of its own author that they have not seen. */
import { describe, expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import {
  ana,
  aSpec,
  bob,
  document,
  hashOf,
  isOpen,
  mails,
  open,
  revise,
  submit,
  taskAfter,
} from '#test/support/stories/task-story.ts'
import type { Submit, TaskCommand } from './fact.ts'
import { draftRevision } from './newer-drafts.ts'
import { task } from './task.ts'

const NEW = { subject: 'new' }

interface Saved {
  readonly item?: string | null
  readonly by?: typeof ana
  readonly draftsSeen?: number | null
}

const save = (content: Json, { item = 'a', by = ana, draftsSeen = null }: Saved = {}): TaskCommand => ({
  ...{ type: 'save_draft', now: 1, by, item, content, draftsSeen },
})

const refused = (before: readonly TaskCommand[], command: TaskCommand) => {
  const answer = task.decide(taskAfter(open(), ...before), command)
  return answer.kind === 'refused' ? answer : null
}

const edited = save({ verdict: 'approve', content: NEW })
const withEdit = { a: { status: 'edited', modifications: NEW } } as const

describe('task-7: a decision and drafts of its author (13.1.5)', () => {
  test('an approval of the old text is refused if its author has saved an edit elsewhere', () => {
    expect(refused([edited], submit('approve', { draftsSeen: 0 }))).toMatchObject({
      code: 'DRAFTS_NEWER',
      detail: expect.stringMatching(/of a elsewhere; the newest draft revision is 1/),
    })
  })

  test('a person who has seen the draft may decide differently', () => {
    expect(refused([edited], submit('approve', { draftsSeen: 1 }))).toBeNull()
  })

  test('a decision that agrees with the drafts is accepted, whichever draft revision it names', () => {
    expect(refused([edited], submit('approve', { items: withEdit }))).toBeNull()
    expect(refused([save({ verdict: 'approve' })], submit('approve'))).toBeNull()
    const oneOut = { a: { status: 'rejected' } } as const
    expect(refused([save({ verdict: 'reject' })], submit('approve', { items: oneOut }))).toBeNull()
    expect(refused([save({ verdict: 'reject' })], submit('reject'))).toBeNull()
  })

  test.each<[string, Json, Partial<Submit> & { readonly action?: string }]>([
    ['an edit', { verdict: null, content: NEW }, {}],
    ['another edit', { verdict: 'approve', content: { subject: 'third' } }, { items: withEdit }],
    ['a rejected item', { verdict: 'reject' }, {}],
    ['an approved item', { verdict: 'approve' }, { action: 'reject' }],
    ['a word that was taken back', { verdict: null }, { items: { a: { status: 'rejected' } } }],
    ['a draft that was thrown away', null, { items: withEdit }],
    ['a draft of a shape of its own', 'half a thought', {}],
    ['what waits for a revision', { verdict: 'approve' }, { action: 'request_edit' }],
  ])('a decision that names no draft revision is refused if it ignores %s', (_, draft, over) => {
    expect(refused([save(draft)], submit(over.action ?? 'approve', over))?.code).toBe('DRAFTS_NEWER')
  })

  test('a decision that ignores answers saved as a draft is refused', () => {
    const begun = save({ fields: { amount: 7 } }, { item: null })
    expect(refused([begun], submit('respond', { fields: { amount: 8 } }))?.code).toBe('DRAFTS_NEWER')
    expect(refused([begun], submit('respond', { fields: { amount: 7 } }))).toBeNull()
  })

  test('an edited document is approved with the edit, and not without it', () => {
    const spec = aSpec({ sections: [document('letter', { text: 'Dear' })] })
    const draft = save({ verdict: null, content: { text: 'Dear friend' } }, { item: 'letter' })
    const state = taskAfter(open(spec), draft)
    const decide = (over: Partial<Submit>) =>
      task.decide(state, submit('approve', { shownHash: hashOf(spec), ...over }))
    expect(decide({})).toMatchObject({ kind: 'refused', code: 'DRAFTS_NEWER' })
    const items = { letter: { status: 'edited', modifications: { text: 'Dear friend' } } } as const
    expect(decide({ items }).kind).toBe('facts')
  })

  test('drafts of other people, and of an earlier revision, do not matter', () => {
    expect(refused([save({ verdict: 'reject' }, { by: bob })], submit('approve'))).toBeNull()
    const before = [open(), edited, revise(2, mails('a'))]
    const { hash: shownHash } = isOpen(taskAfter(...before))
    expect(task.decide(taskAfter(...before), submit('approve', { shownHash })).kind).toBe('facts')
  })

  test('reassigning the task consents to nothing, and ignores drafts', () => {
    const on = submit('reassign', { shownHash: null, to: [{ id: 'bob', kind: 'user' }] })
    expect(refused([edited], on)).toBeNull()
  })
})

describe('drafts of one person in many tabs (13.1.5)', () => {
  test('a draft does not replace one that its author has not seen', () => {
    expect(refused([edited], save({ verdict: 'approve' }, { draftsSeen: 0 }))?.code).toBe('DRAFTS_NEWER')
    expect(refused([edited], save({ verdict: 'approve' }, { draftsSeen: 1 }))).toBeNull()
  })

  test('a draft of another item, and a repeated draft, are accepted', () => {
    expect(refused([edited], save({ verdict: 'approve' }, { item: 'b', draftsSeen: 0 }))).toBeNull()
    expect(refused([edited], { ...edited, draftsSeen: 0 } as TaskCommand)).toBeNull()
  })

  test('each person has a draft revision of their own, which never goes back', () => {
    const state = isOpen(taskAfter(open(), edited, save({ verdict: 'reject' }, { by: bob }), save(null)))
    expect([draftRevision(state, 'ana'), draftRevision(state, 'bob'), draftRevision(state, 'eve')]).toEqual([2, 1, 0])
  })

  test('drafts in the checkpoint of an older program come before all others', () => {
    const state = isOpen(taskAfter(open(), edited))
    const old = { ...state, drafts: state.drafts.map(({ saved: _, ...draft }) => draft) }
    expect(draftRevision(old, 'ana')).toBe(0)
    expect(task.decide(old, submit('approve'))).toMatchObject({ kind: 'refused', code: 'DRAFTS_NEWER' })
    expect(task.decide(old, submit('approve', { draftsSeen: 0 })).kind).toBe('facts')
  })
})
