/** The first command that is suggested to a new user works as it is. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import { suggestionsFor } from './suggest.ts'

const hear = fn('hear', { trigger: 'order.placed' }, () => null)

const firstFor = (schema: unknown): string => {
  const source = { name: 'shop', events: { 'order.placed': schema }, functions: [hear] }
  return suggestionsFor(normalise(source as never, (text) => text))[0] ?? ''
}

test('the suggested event has data that matches its schema', () => {
  const schema = z.object({ id: z.string(), count: z.number().min(3), kind: z.enum(["it's", 'other']) })
  const [, data = ''] = /^npx trihand send order\.placed '(.*)'$/.exec(firstFor(schema)) ?? []
  expect(schema.safeParse(JSON.parse(data.replaceAll(`'\\''`, "'"))).success).toBe(true)
})

test('an event without a schema is suggested with empty data, one whose schema cannot be exported with a file', () => {
  const opaque = { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } }
  expect(firstFor(null)).toBe("npx trihand send order.placed '{}'")
  expect(firstFor(opaque)).toBe('npx trihand send order.placed @data.json')
})

test('a system without listeners gets only commands to look at runs', () => {
  const quiet = normalise({ name: 'quiet' }, (text) => text)
  expect(suggestionsFor(quiet)).toEqual(['npx trihand runs list', 'npx trihand runs show <id>'])
})
