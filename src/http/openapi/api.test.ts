/** The generated types: up to date with the descriptions, and printed correctly. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { body, type Description, json } from '#http/routes/route.ts'
import { openApp } from '#test/support/serving/http-app.ts'
import { printApi } from '../../../scripts/lib/print-api.ts'
import { openApi } from './openapi.ts'
import { anything, closed, described, list, mapOf, orNull, PAGING, record, text, whole, words } from './schema.ts'

test('api.ts is what `npm run api` would print now', async () => {
  const app = await openApp({ name: 'nothing' })
  const { body: document } = await app.ask('/openapi.json')
  await app.close()
  expect(printApi(document)).toBe(readFileSync(new URL('./api.ts', import.meta.url), 'utf8'))
})

const printed = (description: Partial<Description>): string => {
  const whole: Description = {
    id: 'doIt',
    method: 'post',
    path: '/api/things/{id}',
    access: 'viewer',
    summary: 'Does it',
    answers: { 200: json(text) },
    ...description,
  }
  const line = printApi(openApi([whole], '1'))
    .split('\n')
    .find((text) => text.includes('readonly doIt:'))
  return line?.trim() ?? 'not printed'
}

test('an operation takes its path, its query parameters and its body as input', () => {
  const given = { query: PAGING, body: body(closed({ name: text }, { age: whole })) }
  expect(printed(given)).toBe(
    'readonly doIt: { readonly input: { readonly path: { readonly id: string }; ' +
      'readonly query?: { readonly limit?: number; readonly cursor?: string }; ' +
      'readonly body: { readonly name: string; readonly age?: number } }; readonly output: string }',
  )
})

test.each([
  [list(orNull(text)), 'readonly (string | null)[]'],
  [list(words(['a', "b's"])), "readonly ('a' | 'b\\'s')[]"],
  [mapOf(list(text)), '{ readonly [key: string]: readonly string[] }'],
  [record({ 'a-b': anything }), "{ readonly 'a-b': Json }"],
  [described('why', closed({})), 'Nothing'],
])('%j is printed as %s', (schema, type) => {
  expect(printed({ answers: { 200: json(schema) } })).toContain(`readonly output: ${type} }`)
})

test('operations that answer a page or take any body are not printed', () => {
  expect(printed({ answers: { 200: { media: 'text/html', schema: text } } })).toBe('not printed')
  expect(printed({ body: { isRequired: true, content: [{ media: '*/*', schema: anything }] } })).toBe('not printed')
})

test('a keyword that the printer does not know is an error', () => {
  expect(() => printed({ answers: { 200: json({ type: 'tuple' }) } })).toThrow(/cannot print/)
})
