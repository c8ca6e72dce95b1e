/** Rows as arrays on the wire: no text may end an array early. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quote, toArrays, unnest } from './columns.ts'

const COLUMNS = { id: 'uuid', name: 'text', size: 'bigint', is_new: 'bool' } as const

test('each column is one array, in the order of the columns', () => {
  const rows = [
    { id: '00', name: 'a', size: 1, is_new: true },
    { id: '01', name: 'b', size: -2, is_new: false },
  ]
  expect(toArrays(COLUMNS, rows)).toEqual(['{00,01}', '{"a","b"}', '{1,-2}', '{true,false}'])
})

test.each([
  ['a quote', 'say "no"', '{"say \\"no\\""}'],
  ['a backslash', 'C:\\x', '{"C:\\\\x"}'],
  ['commas and braces', '{a,b}', '{"{a,b}"}'],
  ['the word for nothing', 'NULL', '{"NULL"}'],
  ['nothing at all', '', '{""}'],
  ['line breaks', 'a\nb', '{"a\nb"}'],
  ['line breaks with a quote', 'a\n"b"', '{"a\n\\"b\\""}'],
  ['a body in JSON', '{"a":"b\\n\u2028🜁"}', '{"{\\"a\\":\\"b\\\\n\u2028🜁\\"}"}'],
  ['half a pair with a quote', '"\ud800', '{"\\"\ud800"}'],
])('%s in a text stays text', (_, name, literal) => {
  expect(toArrays({ name: 'text' }, [{ name }])).toEqual([literal])
})

test('the quoting of any text equals escaping each special character', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\ud83d', 'ü') }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      expect(quote(text)).toBe(`"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
    }),
    { numRuns: 1_000, seed: 7 },
  )
})

test('null is NULL in every type, and no rows give an empty array', () => {
  expect(toArrays(COLUMNS, [{ id: null, name: null, size: null, is_new: null }])).toEqual(Array(4).fill('{NULL}'))
  expect(toArrays(COLUMNS, [])).toEqual(Array(4).fill('{}'))
})

test('parameters are numbered from the given start', () => {
  expect(unnest('item', { id: 'uuid', name: 'text' }, 7)).toBe('unnest($7::uuid[], $8::text[]) as item(id, name)')
})
