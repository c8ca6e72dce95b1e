/** [A4] Payloads in every form, and the JSON Schema of each. */
import { describe, expect, test } from 'vitest'
import type { Remark } from '#manifest/yaml/finding.ts'
import type { Json } from '#model/kernel/json.ts'
import { longPayload, payloadSchema } from './payload.ts'

const told = (payload: Json, additional = true): { readonly schema: Json; readonly remarks: readonly Remark[] } => {
  const remarks: Remark[] = []
  const schema = payloadSchema(longPayload(payload), additional, ['p'], (remark) => remarks.push(remark))
  return { schema, remarks }
}

describe('[A4] a payload', () => {
  test.each([
    [{ id: 'string!' }, { id: { type: 'string' } }, ['id']],
    [{ id: 'string' }, { id: { type: 'string' } }, undefined],
    [{ id: null }, { id: {} }, undefined],
    [['a', 'b'], { a: {}, b: {} }, ['a', 'b']],
    [{ id: { type: 'uuid', required: true } }, { id: { type: 'string', format: 'uuid' } }, ['id']],
    [{ at: 'timestamp!' }, { at: { type: 'string', format: 'date-time' } }, ['at']],
    [{ n: { type: 'number', min: 1, max: 9 } }, { n: { type: 'number', minimum: 1, maximum: 9 } }, undefined],
    [{ n: { type: 'string', min: 1, max: 9 } }, { n: { type: 'string', minLength: 1, maxLength: 9 } }, undefined],
    [
      { n: { type: 'array', min: 1, items: 'string' } },
      { n: { type: 'array', minItems: 1, items: { type: 'string' } } },
      undefined,
    ],
    [{ n: 'string[]!' }, { n: { type: 'array', items: { type: 'string' } } }, ['n']],
    [{ n: { type: 'string', enum: [1, 'b'] } }, { n: { type: 'string', enum: ['1', 'b'] } }, undefined],
    [
      { o: { type: 'object', properties: { a: 'integer!', b: null } } },
      { o: { type: 'object', properties: { a: { type: 'integer' }, b: {} }, required: ['a'] } },
      undefined,
    ],
  ])('%j', (payload, properties, required) => {
    const { schema, remarks } = told(payload as Json)
    expect(remarks).toEqual([])
    expect(schema).toEqual({ type: 'object', properties, ...(required === undefined ? {} : { required }) })
  })

  test('that is already JSON Schema stays as it is', () => {
    const schema = { type: 'object', properties: { a: { const: 1 } }, required: ['a'] }
    expect(told(schema)).toEqual({ schema, remarks: [] })
  })

  test('may be closed', () =>
    expect(told({ id: 'string' }, false).schema).toMatchObject({ additionalProperties: false }))

  test('in its long form stays as it is', () => {
    const long = longPayload({ a: 'string!', b: ['x'], c: { type: 'array', items: 'uuid' } })
    expect(longPayload(long)).toEqual(long)
  })
})

describe('what is wrong with a payload', () => {
  test.each([
    [{ id: 'strng' }, 'p.id.type', 'did you mean string?'],
    [{ id: 7 }, 'p.id.type', '7 is not a type'],
    [{ id: { type: 'boolean', min: 1 } }, 'p.id.min', 'min must be a number, and only'],
    [{ id: { type: 'string', enum: 'a' } }, 'p.id.enum', 'a list of values'],
    [{ id: { type: 'string', requird: true } }, 'p.id.requird', 'did you mean required?'],
    [{ id: { type: 'array', items: 3 } }, 'p.id.items.type', '3 is not a type'],
    ['text', 'p', 'a map of names to types'],
    [[1, 2], 'p', 'a map of names to types'],
  ])('%j is reported at %s', (payload, path, words) => {
    const [remark] = told(payload as Json).remarks
    expect([remark?.path.join('.'), remark?.message]).toEqual([path, expect.stringContaining(words)])
  })
})
