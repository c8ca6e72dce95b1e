/** Templates: preserved types, filled texts, missing fields. */
import { expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { compileTemplate } from './template.ts'

const BODY: Json = { n: 7, name: 'ana', list: [1, { a: 2 }], nothing: null }
const fill = (template: Json): Json => compileTemplate(template, ['body'])({ body: BODY })

test.each<[Json, Json]>([
  ['{{ body.n }}', 7],
  ['{{ body.list }}', [1, { a: 2 }]],
  ['{{ body.nothing }}', null],
  ['{{ body.n > 3 ? "many" : "few" }}', 'many'],
  ['no. {{ body.n }} of {{ body.name }}', 'no. 7 of ana'],
  ['{{ body.n }}{{ body.nothing }}{{ body.list }}', '7[1,{"a":2}]'],
  [{ a: ['{{ body.name }}', 1, null, true] }, { a: ['ana', 1, null, true] }],
  ['plain', 'plain'],
])('%j becomes %j', (template, filled) => {
  expect(fill(template)).toEqual(filled)
})

test('a missing field is an error that shows the expression', () => {
  expect(() => fill({ a: 'x {{ body.missing }}' })).toThrow(
    expect.objectContaining({ code: 'TEMPLATE_ERROR', detail: expect.stringContaining('body.missing') }),
  )
})
