/** Characters that hide or reorder text are escaped where people see them. */
import { expect, test } from 'vitest'
import { visibleLines, visibleText } from './visible-text.ts'

test.each([
  ['mallory\u202e.exe', 'mallory\\u202e.exe'],
  ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
  ['a\u061cb\u00adc\u3164', 'a\\u061cb\\u00adc\\u3164'],
  ['pay\u{e0061}', 'pay\\udb40\\udc61'],
  ['a\u001b[31mb', 'a\\u001b[31mb'],
  ['Grüße 🜁 שלום', 'Grüße 🜁 שלום'],
])('visible-1: %j is shown as %j (13.1.3)', (text, shown) => {
  expect([visibleText(text), visibleLines(text)]).toEqual([shown, shown])
})

test('visible-1: a line break is kept in text of several lines, and escaped in text of one line (13.1.3)', () => {
  expect([visibleText('a\nb\tc\r'), visibleLines('a\nb\tc\r')]).toEqual(['a\\u000ab\\u0009c\\u000d', 'a\nb\tc\\u000d'])
})
