/** Which schemas OpenAI accepts as strict. */
import { expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { isStrictSchema } from './strict-schema.ts'

const closed = (properties: { readonly [key: string]: Json }): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

test.each<[string, Json, boolean]>([
  ['closed, all required', closed({ a: { type: 'string' } }), true],
  ['closed within a list', closed({ a: { type: 'array', items: closed({ b: { type: 'number' } }) } }), true],
  ['a member that may be missing', { ...(closed({ a: {}, b: {} }) as object), required: ['a'] }, false],
  ['open', { type: 'object', properties: { a: {} }, required: ['a'] }, false],
  ['open within', closed({ a: { type: 'object', properties: { b: {} } } }), false],
  ['an object of anything', { type: 'object' }, false],
  ['a choice with an open one', closed({ a: { anyOf: [{ type: 'string' }, { type: 'object' }] } }), false],
  ['no object at all', { type: 'string' }, true],
])('%s: %#', (_, schema, expected) => {
  expect(isStrictSchema(schema)).toBe(expected)
})
