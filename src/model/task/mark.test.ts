/** Marking many items at once: which items a rule finds, and which drafts are saved. */
import { describe, expect, test } from 'vitest'
import { ana, bob, history, open, taskAfter } from '#test/support/stories/task-story.ts'
import { specify } from '#testing/spec.ts'
import type { TaskItem } from './fact.ts'
import { findItems } from './mark.ts'
import { task } from './task.ts'

const { given } = specify(task)
const opened = open()
const mark = (items: readonly string[], verdict: 'approve' | 'reject' | null, by = ana) =>
  ({ type: 'mark_items', now: 5, by, items, verdict }) as const
const draft = (item: string, content: object) =>
  ({ type: 'task.draft_saved', at: 5, by: 'ana', item, content: content as never }) as const

describe('[C17] marks of many items', () => {
  test('are drafts, one for each item', () =>
    given(...history(opened))
      .when(mark(['a', 'b'], 'reject'))
      .thenFacts(draft('a', { verdict: 'reject' }), draft('b', { verdict: 'reject' })))

  test('that exist already are not saved again', () =>
    given(...history(opened, mark(['a'], 'approve')))
      .when(mark(['a'], 'approve'))
      .thenNothing())

  test('keep the edit of the item', () => {
    const content = { subject: 'mine' }
    const edit = { type: 'save_draft', now: 4, by: ana, item: 'a', content: { verdict: null, content } } as const
    given(...history(opened, edit))
      .when(mark(['a'], 'approve'))
      .thenFacts(draft('a', { verdict: 'approve', content }))
  })

  test('are all refused if one item is unknown', () =>
    given(...history(opened))
      .when(mark(['a', 'nobody'], 'approve'))
      .thenRefused('NOT_FOUND'))

  test('are separate for each person', () => {
    const state = taskAfter(opened, mark(['a'], 'approve'), mark(['a'], 'reject', bob))
    expect(state.kind === 'open' && state.drafts.map(({ by }) => by)).toEqual(['ana', 'bob'])
  })
})

test('[C17] an item for which the rule is neither true nor false is not marked', () => {
  const item = (id: string, kind: TaskItem['kind'] = 'item'): TaskItem => ({
    ...{ id, kind, title: id, section: 's', content: id, hash: '', status: 'pending_review' },
  })
  const answers = { yes: true, no: false, odd: 1, document: true } as Record<string, boolean | number>
  const found = findItems(
    [item('yes'), item('no'), item('odd'), item('document', 'document'), item('gone')],
    (roots) => {
      const answer = answers[String(roots['item'])]
      return answer === undefined ? { kind: 'error', detail: 'no such key' } : { kind: 'value', value: answer }
    },
  )
  expect(found.items).toEqual(['yes'])
  expect(found.unclear.map(({ item: id }) => id)).toEqual(['odd', 'gone'])
})
