/** The shown difference of an edit, and the submit that results from the marks of a bundle. */
import { expect, test } from 'vitest'
import type { TaskItem } from '../../api/documents.ts'
import { changesOf } from './difference.ts'
import { choicesOf, isEdited, marksOf, progressOf, restApproved, staleMarksOf } from './marks.ts'

const item = (id: string, subject: string): TaskItem => ({
  id,
  title: id,
  content: { subject, to: 'ada@example.org' },
  status: 'pending_review',
})
const ITEMS = [item('a', 'Hello'), item('b', 'Hi'), item('c', 'Hey')]
const draft = (id: string, content: object, isStale = false) => ({
  item: id,
  content: content as never,
  is_stale: isStale,
})

test('only the fields that differ are shown, word by word', () => {
  const changes = changesOf({ subject: 'Hello Ada', to: 'x' }, { subject: 'Hello Grace', to: 'x' })
  expect(changes.map(({ path }) => path)).toEqual(['subject'])
  expect(changes[0]?.parts.filter(({ added, removed }) => added || removed).map(({ value }) => value)).toEqual([
    'Ada',
    'Grace',
  ])
})

test('a field that came or went is a change too', () => {
  expect(changesOf({ a: 1 }, { b: 2 }).map(({ path }) => path)).toEqual(['a', 'b'])
  expect(changesOf({ a: { b: 1 } }, { a: { b: 2 } }).map(({ path }) => path)).toEqual(['a.b'])
})

test('[C17] drafts come back as marks, but not those of an older revision', () => {
  const marks = marksOf([draft('a', { verdict: 'reject' }), draft('b', { verdict: 'approve' }, true)])
  expect([...marks.keys()]).toEqual(['a'])
})

test('[C13] one submit says approve, reject and edit per item', () => {
  const edited = { subject: 'Hi there', to: 'ada@example.org' }
  const marks = restApproved(
    ITEMS,
    marksOf([draft('a', { verdict: 'reject' }), draft('b', { verdict: 'approve', content: edited })]),
  )
  expect(choicesOf(ITEMS, marks)).toEqual({
    a: { status: 'rejected' },
    b: { status: 'edited', modifications: edited },
    c: { status: 'approved' },
  })
  expect(progressOf(ITEMS, marks)).toEqual({ total: 3, reviewed: 3, rejected: 1, edited: 1 })
})

test('content that was typed back to what it was is no edit', () => {
  expect(isEdited(item('a', 'Hello'), { verdict: null, content: { subject: 'Hello', to: 'ada@example.org' } })).toBe(
    false,
  )
})

test('[C17] marks of an earlier revision are kept apart, without their edits, for items that are still there', () => {
  const drafts = [
    draft('a', { verdict: 'approve', content: { subject: 'old' } }, true),
    draft('gone', { verdict: 'reject' }, true),
    draft('b', { verdict: 'reject' }),
  ]
  const section = { id: 's', type: 'review_items', title: 's', content: null, is_editable: true, items: ITEMS }
  expect([...marksOf(drafts)]).toEqual([['b', { verdict: 'reject' }]])
  expect([...staleMarksOf({ drafts, sections: [section] })]).toEqual([['a', { verdict: 'approve' }]])
})
