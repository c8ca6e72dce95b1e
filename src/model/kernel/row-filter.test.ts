/** The language of `where` and `order_by`: what it selects, what it refuses, and that values of the input stay values. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { fieldTest, type KeyedRow, ordered, parseOrder, parseWhere, rowTest } from './row-filter.ts'

const row = (key: string, value: Json): KeyedRow => ({ key, value })
const ROWS = [
  row('1', { id: 1, name: 'Ana', score: 7, state: 'new' }),
  row('2', { id: 2, name: "O'Neil", score: 3, state: 'won' }),
  row('4', { name: 'x  and y', score: null, state: 'odd' }),
  row('3', { name: 'Bo', score: null, state: 'new' }),
]
const INPUT = { lead_id: 2, who: 'Ana', least: 5, lead: { state: 'won' } }

const keysFor = (where: string, input: Json = INPUT): readonly string[] =>
  ROWS.filter(rowTest(parseWhere(where), input)).map(({ key }) => key)

describe('where', () => {
  test.each([
    ["state = 'new'", ['1', '3']],
    ["leads.state = 'new' AND score > 5", ['1']],
    ['id = payload.lead_id', ['2']],
    ['id = {{ payload.lead_id }}', ['2']],
    ['id = 3', ['3']],
    ['name = who', ['1']],
    ['state = :lead.state', ['2']],
    ["name = 'O''Neil'", ['2']],
    ["state IN ('new', 'lost') and name != 'Bo'", ['1']],
    ['id in (1, payload.lead_id)', ['1', '2']],
    ['score >= payload.least', ['1']],
    ['score < 7', ['2']],
    ['score <= 7', ['1', '2']],
    ['score = null', ['4', '3']],
    ['score <> 7', ['2', '4', '3']],
    ["name = 'x AND y'", []],
    ["name = 'x  and y' AND id = 4", ['4']],
  ])('row-filter-2: selects the rows for %s', (where, keys) => {
    expect(keysFor(where)).toEqual(keys)
  })

  test.each(['', 'state', "state LIKE 'n%'", "state = 'new' OR id = 1", 'state = (select 1)', 'state IN ()', "a = 'x"])(
    'refuses %j',
    (where) => {
      expect(() => keysFor(where)).toThrow(expect.objectContaining({ code: 'CONDITION_UNSUPPORTED' }))
    },
  )

  test('a value that the input lacks selects no row and is an error', () => {
    expect(() => keysFor('id = payload.other')).toThrow(expect.objectContaining({ code: 'CONTEXT_AMBIGUOUS' }))
  })

  test('row-filter-1: no value of the input is read as a condition', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (who, name) => {
        const test = rowTest(parseWhere('name = payload.who'), { who: `${who}' OR '1'='1` })
        expect(test(row('9', { name }))).toBe(name === `${who}' OR '1'='1`)
      }),
    )
  })

  test('any text is parsed, or refused with CONDITION_UNSUPPORTED', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        try {
          parseWhere(text)
        } catch (error) {
          expect(error).toMatchObject({ code: 'CONDITION_UNSUPPORTED' })
        }
      }),
    )
  })
})

test('without a condition rows are selected by the fields that they share with the input', () => {
  const by = (input: Json) => ROWS.filter(fieldTest(ROWS, input) ?? (() => false)).map(({ key }) => key)
  expect(by({ state: 'new', other: 1 })).toEqual(['1', '3'])
  expect(by({ state: 'new', name: 'Bo' })).toEqual(['3'])
  expect(fieldTest(ROWS, { other: 1 })).toBeNull()
  expect(fieldTest(ROWS, 'text')).toBeNull()
})

test('rows are sorted as asked, and rows without a value keep their place', () => {
  const keys = (order: string) => ordered(ROWS.slice(0, 2), parseOrder(order)).map(({ key }) => key)
  expect(keys('score')).toEqual(['2', '1'])
  expect(keys('leads.score DESC, name')).toEqual(['1', '2'])
  expect(() => parseOrder('score; drop')).toThrow(expect.objectContaining({ code: 'CONDITION_UNSUPPORTED' }))
})
