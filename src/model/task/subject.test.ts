/** The subject of a decision: every part of it is in the hash, and nothing else. */
import { describe, expect, test } from 'vitest'
import {
  action,
  aSpec,
  document,
  hashOf,
  isOpen,
  mails,
  open,
  taskAfter,
  to,
} from '#test/support/stories/task-story.ts'
import type { TaskSpec } from './spec.ts'
import { sectionsProblem } from './subject.ts'

describe('the hash of a subject', () => {
  const usual = hashOf()
  const [first] = mails('a', 'b', 'c').items
  const flipped = { ...mails('a', 'b', 'c'), items: [{ ...first, content: { subject: 'about b' } }] as never }

  test.each<readonly [string, Partial<TaskSpec>]>([
    ['its type', { type: 'review' }],
    ['its name', { name: 'review-letter' }],
    ['its title', { title: 'Review the mailings' }],
    ['its instructions', { instructions: 'Read each mail!' }],
    ['its context', { context: { n: 1 } }],
    ['what may be done', { actions: [action('approve')] }],
    ['what an action sends', { actions: [action('approve', { emits: 'mail.approved' })] }],
    ['the items', { sections: [mails('a', 'b')] }],
    ['the content of an item', { sections: [flipped] }],
    ['a section more', { sections: [mails('a', 'b', 'c'), document('letter', null)] }],
    ['a section’s content', { sections: [mails('a', 'b', 'c'), { ...document('x', 'text'), type: 'preview' }] }],
  ])('changes with %s', (_, over) => expect(hashOf(aSpec(over))).not.toBe(usual))

  test('is bound to one step: equal content elsewhere needs a consent of its own', () =>
    expect(isOpen(taskAfter({ ...open(), step: 'review[2]' } as never)).hash).not.toBe(usual))

  test("does not cover who is asked, the deadline, or an agent's remarks", () =>
    expect(
      hashOf(
        aSpec({ levels: [{ to: to('eve'), deadline: null }], remarks: 'Please hurry', excluded: ['bob'], priority: 9 }),
      ),
    ).toBe(usual))
})

test.each([
  ['', 'is not a valid item id'],
  ['__proto__', 'is not a valid item id'],
  ['a\nb', 'is not a valid item id'],
  ['x'.repeat(129), 'is not a valid item id'],
])('an item named %j is refused', (id, problem) => expect(sectionsProblem([mails(id)])).toContain(problem))

test('two sections with the same id are refused', () =>
  expect(sectionsProblem([mails('a'), mails('b')])).toBe('two sections have the id mails'))
