import { expect, test } from 'vitest'
import type { Page } from './documents.ts'
import { type Pages, type Row, renewedPages, touchedPages } from './long-lists.ts'

const page = (ids: string, next: string | null): Page<Row> => ({
  items: [...ids].map((id) => ({ id })),
  next_cursor: next,
})

const list: Pages = { pages: [page('abc', '1'), page('def', '2'), page('ghi', '3')], pageParams: ['', '1', '2'] }

const shown = ({ pages }: Pages): string => pages.map(({ items }) => items.map(({ id }) => id).join('')).join(' ')

const cursor = ({ pages }: Pages): string | null | undefined => pages.at(-1)?.next_cursor

const renew = (changed: string, fresh: Readonly<Record<string, Page<Row>>>): Pages =>
  renewedPages(list, new Map(Object.entries(fresh)), new Set(changed))

test('the first page and those that hold a changed row are asked for, and no other', () => {
  expect(touchedPages(list, new Set('x'))).toEqual([''])
  expect(touchedPages(list, new Set('b'))).toEqual([''])
  expect(touchedPages(list, new Set('hx'))).toEqual(['', '2'])
})

test('a new row comes to the top, and what it pushes out of the first page is still there', () => {
  const now = renew('x', { '': page('xab', '0') })
  expect(shown(now)).toBe('xabc def ghi')
  expect(cursor(now)).toBe('3')
})

test('a row that has gone is gone, and the one that follows it is not shown twice', () => {
  expect(shown(renew('b', { '': page('acd', '0') }))).toBe('ac def ghi')
})

test('a row that has moved to the top is shown there alone', () => {
  const now = renew('h', { '': page('hab', '0'), 2: page('gij', '4') })
  expect(shown(now)).toBe('habc def gij')
  expect(cursor(now)).toBe('4')
})

test('a row that was pushed out of the last page is asked for with the next', () => {
  const now = renewedPages(
    { pages: [page('abc', '1')], pageParams: [''] },
    new Map([['', page('xab', '0')]]),
    new Set('x'),
  )
  expect(shown(now)).toBe('xabc')
  expect(cursor(now)).toBe('1')
})
