/** Which facts appear in a task's history, and which do not. */
import { expect, test } from 'vitest'
import { bob, history, open, submit } from '#test/support/stories/task-story.ts'
import { taskHistory } from './history.ts'

test('[C14] an edit is listed with its items, and a decision with its reason', () => {
  const edit = submit('edit', { items: { a: { status: 'edited', modifications: { subject: 'new' } } } })
  const told = taskHistory(history(open(), edit))
  expect(told.map(({ what, by, items }) => [what, by, items])).toEqual([
    ['opened', null, []],
    ['edited', 'ana', ['a']],
    ['decided', 'ana', []],
  ])
})

test('[C17] drafts and snoozes of a person are not in the history', () => {
  const draft = { type: 'save_draft', now: 1, by: bob, item: null, content: 'hm' } as const
  const later = { type: 'set_follow_up', now: 2, by: bob, until: 9 } as const
  const seen = { type: 'view_task', now: 3, by: bob } as const
  expect(taskHistory(history(open(), draft, later, seen, { ...seen, now: 900_000 })).map(({ text }) => text)).toEqual([
    expect.stringMatching(/^asked /),
    'has seen it',
  ])
})
