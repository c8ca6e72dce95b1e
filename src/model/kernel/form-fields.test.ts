/** A JSON schema becomes the fields of a form, and what was filled in becomes a value. */
import { expect, test } from 'vitest'
import { fieldsOf, filledValue, initiallyFilled, problemsOf } from './form-fields.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name' },
    age: { type: 'integer' },
    loud: { type: 'boolean' },
    tone: { type: 'string', enum: ['warm', 'cold'] },
    extras: { type: 'array', items: {} },
  },
  required: ['name'],
}

test('members of an object become fields, and anything but a simple value is entered as JSON', () => {
  const fields = fieldsOf(SCHEMA)
  expect(fields?.map(({ label, kind, isRequired }) => [label, kind, isRequired])).toEqual([
    ['Your name', 'long', true],
    ['age', 'integer', false],
    ['loud', 'yes', false],
    ['tone', 'words', false],
    ['extras', 'json', false],
  ])
})

test.each([null, true, { type: 'string' }, { type: 'object' }])('%j has no form', (schema) => {
  expect(fieldsOf(schema)).toBeNull()
})

test('what is filled in becomes the value, and empty fields are left out', () => {
  const fields = fieldsOf(SCHEMA) ?? []
  const filled = { name: 'Ada', age: '36', loud: true, tone: '', extras: '[1, "b"]' }
  expect(filledValue(fields, filled)).toEqual({ name: 'Ada', age: 36, loud: true, extras: [1, 'b'] })
  expect(() => filledValue(fields, { age: 'many' })).toThrow('age is not a number')
  expect(() => filledValue(fields, { extras: '[' })).toThrow('extras is not JSON')
})

test('dates, limits, nested objects and lists have fields of their own, and each problem names its field', () => {
  const fields =
    fieldsOf(
      {
        type: 'object',
        properties: {
          due: { type: 'string', format: 'date' },
          amount: { type: ['number', 'null'], minimum: 1, maximum: 9 },
          level: { enum: [1, 2] },
          address: { $ref: '#/$defs/address' },
          tags: { type: 'array', items: { type: 'string' } },
          agreed: { type: 'boolean' },
        },
        $defs: {
          address: { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] },
        },
        required: ['due', 'address', 'agreed'],
      },
      ['note'],
    ) ?? []
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ['due', 'date'],
    ['amount', 'number'],
    ['level', 'words'],
    ['address.city', 'long'],
    ['tags', 'lines'],
    ['agreed', 'yes'],
    ['note', 'long'],
  ])
  expect(problemsOf(fields, { due: '2026-02-30', amount: '10', 'address.city': 'A' })).toEqual({
    due: 'due is not a date, like 2026-01-31',
    amount: 'amount must be at most 9',
    'address.city': 'address › city must have at least 2 characters',
    note: 'note is required',
  })
  const filled = { due: '2026-02-28', amount: '9', level: '2', 'address.city': 'Oslo', tags: 'a\n\nb', note: 'x' }
  expect(problemsOf(fields, filled)).toEqual({})
  expect(filledValue(fields, filled)).toEqual({
    ...{
      due: '2026-02-28',
      amount: 9,
      level: 2,
      address: { city: 'Oslo' },
      tags: ['a', 'b'],
      agreed: false,
      note: 'x',
    },
  })
})

test('a schema with hostile member names changes no object but the answer', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"answer":{"type":"object","properties":{"__proto__":{"type":"object","properties":{"x":{"type":"string"}}},"toString":{"type":"string"}},"required":["toString"]}},"required":["answer"]}',
  )
  const fields = fieldsOf(schema) ?? []
  expect(fields.map(({ name }) => name)).toEqual(['answer.toString'])
  const flat = fieldsOf(schema.properties.answer) ?? []
  expect(problemsOf(flat, {})).toEqual({ toString: 'toString is required' })
  expect(filledValue(fields, { 'answer.toString': 'a', 'answer.__proto__.x': 'b' })).toEqual({
    answer: { toString: 'a' },
  })
})

test.each([
  [{ type: 'number', exclusiveMinimum: 0 }, '0', 'must be more than 0'],
  [{ type: 'integer', exclusiveMaximum: 5 }, '5', 'must be less than 5'],
  [{ type: 'integer' }, '1.5', 'is not a whole number'],
  [{ enum: ['low', 'high'] }, 'middle', 'is not one of low, high'],
  [{ type: 'array', items: { type: 'integer' } }, '1\nx', 'in line 2 is not a number'],
  [{ type: 'array', items: { type: 'boolean' } }, 'true\nmaybe', 'in line 2 is neither true nor false'],
  [{ type: 'array', items: { type: 'string' }, minItems: 2 }, 'a', 'must have at least 2 lines'],
  [{ type: 'string', format: 'date-time' }, 'soon', 'is not a date and time'],
  [{ type: 'string', format: 'email' }, 'ana', 'is not an e-mail address'],
])('a member with schema %j refuses the input %j', (member, given, problem) => {
  const fields = fieldsOf({ type: 'object', properties: { it: member } }) ?? []
  expect(problemsOf(fields, { it: given })).toEqual({ it: `it ${problem}` })
})

const ORDER = {
  type: 'object',
  properties: {
    lines: {
      type: 'array',
      minItems: 1,
      items: { $ref: '#/$defs/line' },
    },
    channels: { type: 'array', items: { enum: ['mail', 'phone', 3] } },
    at: { type: 'string', format: 'time', default: '09:00' },
    contact: {
      type: 'object',
      properties: { name: { type: 'string' }, mail: { type: 'string', format: 'email' } },
      required: ['name'],
    },
    size: { oneOf: [{ const: 's' }, { const: null }] },
  },
  $defs: {
    line: {
      type: 'object',
      properties: { article: { type: 'string' }, pieces: { type: 'integer', minimum: 1 } },
      required: ['article', 'pieces'],
    },
  },
  required: ['lines', 'channels'],
}

test('[C3] a list of objects has a row of fields for each, a list with an enum has choices, and a default is filled in (13.1.4)', () => {
  const fields = fieldsOf(ORDER) ?? []
  expect(fields.map(({ name, kind, words }) => [name, kind, words])).toEqual([
    ['lines', 'rows', []],
    ['channels', 'choices', ['mail', 'phone', '3']],
    ['at', 'time', []],
    ['contact.name', 'long', []],
    ['contact.mail', 'email', []],
    ['size', 'words', ['s', 'null']],
  ])
  expect(fields[0]?.rows.map(({ name, kind }) => [name, kind])).toEqual([
    ['article', 'long'],
    ['pieces', 'integer'],
  ])
  expect(initiallyFilled(fields)).toEqual({ at: '09:00' })
  const rows = (...given: readonly object[]) => JSON.stringify(given)
  expect(problemsOf(fields, {})).toEqual({ lines: 'lines must have at least 1 row' })
  expect(
    problemsOf(fields, {
      ...{ lines: rows({ article: 'Tea', pieces: '2' }, { pieces: '0' }), channels: 'mail\nfax', at: '25:00' },
      'contact.mail': 'bea@example.com',
    }),
  ).toEqual({
    lines: 'lines in row 2: article is required',
    channels: 'channels in line 2 is not one of mail, phone, 3',
    at: 'at is not a time, like 14:00',
    'contact.name': 'contact › name is required',
  })
  expect(filledValue(fields, { lines: rows({ article: 'Tea', pieces: '2' }), size: 'null' })).toEqual({
    ...{ lines: [{ article: 'Tea', pieces: 2 }], channels: [], size: null },
  })
  expect(filledValue(fields, { lines: rows({ article: 'Tea', pieces: '2' }), channels: 'mail\n3' })).toEqual({
    ...{ lines: [{ article: 'Tea', pieces: 2 }], channels: ['mail', 3] },
  })
})
