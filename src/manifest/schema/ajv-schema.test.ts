/** JSON Schema behind the interface that every schema has. */
import { describe, expect, test } from 'vitest'
import { checkJsonSchema, jsonSchema } from './ajv-schema.ts'
import { checkAgainst } from './schema.ts'

const ORDER = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid' },
    at: { type: 'string', format: 'date-time' },
    size: { enum: ['s', 'm'] },
    'a/b': { type: 'number' },
  },
  required: ['id'],
}

const problem = async (value: object): Promise<string> => {
  try {
    await checkAgainst(jsonSchema(ORDER), value as never, 'EVENT_INVALID', 'event order')
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

describe('a value', () => {
  const id = '0190b3c1-0000-7000-8000-000000000000'

  test('that fits is accepted', async () =>
    expect(await problem({ id, at: '2026-01-01T00:00:00Z', size: 's' })).toBe(''))

  test.each([
    [{}, "/: must have required property 'id'"],
    [{ id: 'x' }, '/id: must match format "uuid"'],
    [{ id, at: 'noon' }, '/at: must match format "date-time"'],
    [{ id, size: 'xl' }, '/size: must be equal to one of the allowed values: ["s","m"]'],
    [{ id, 'a/b': 'x' }, '/a/b: must be number'],
  ])('%j does not fit', async (value, words) => expect(await problem(value)).toContain(words))
})

test('the schema can be exported', () => {
  const { jsonSchema: shown } = jsonSchema(ORDER)['~standard']
  expect(shown.input({ target: 'draft-2020-12' })).toEqual(ORDER)
})

test('one schema may be defined twice, with an id', async () => {
  for (let i = 0; i < 2; i++) {
    const schema = jsonSchema({ $id: 'https://example.org/order', type: 'string' })
    expect(await schema['~standard'].validate('x')).toEqual({ value: 'x' })
  }
})

test.each([[{ type: 'strin' }], [{ properties: 3 }], [{ $ref: '#/nowhere' }], [[]], ['text'], [null]])(
  '%j is not a valid JSON Schema',
  (document) =>
    expect(() => checkJsonSchema(document, 'events.a.schema')).toThrow(/^MANIFEST_INVALID: events\.a\.schema/),
)
