import { expect, test } from 'vitest'
import { fieldsOf, filledValue } from './schema-fields.ts'

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

test('members of an object become fields, and what is no simple value is written as JSON', () => {
  const fields = fieldsOf(SCHEMA)
  expect(fields?.map(({ label, kind, isRequired }) => [label, kind, isRequired])).toEqual([
    ['Your name', 'text', true],
    ['age', 'number', false],
    ['loud', 'yes', false],
    ['tone', 'words', false],
    ['extras', 'json', false],
  ])
})

test.each([null, true, { type: 'string' }, { type: 'object' }])('%j has no form', (schema) => {
  expect(fieldsOf(schema)).toBeNull()
})

test('what is filled in is the value, what is empty is not there', () => {
  const fields = fieldsOf(SCHEMA) ?? []
  const filled = { name: 'Ada', age: '36', loud: true, tone: '', extras: '[1, "b"]' }
  expect(filledValue(fields, filled)).toEqual({ name: 'Ada', age: 36, loud: true, extras: [1, 'b'] })
  expect(() => filledValue(fields, { age: 'many' })).toThrow('age is not a number')
  expect(() => filledValue(fields, { extras: '[' })).toThrow('extras is not JSON')
})
