/** The tool WebSearch with a provider and without one. */
import { expect, test } from 'vitest'
import type { Search } from '#ports/search.ts'
import type { ToolContext } from '#ports/tool.ts'
import { webSearch } from './web-search.ts'

const context = { signal: AbortSignal.abort() } as unknown as ToolContext

test('calls its provider, and returns as many results as requested', async () => {
  const asked: unknown[] = []
  const search: Search = {
    find: async (query, options) => {
      asked.push([query, options])
      return Array.from({ length: 30 }, (_, n) => ({ title: `t${n}`, url: `https://a.example/${n}`, snippet: 's', n }))
    },
  }
  expect(await webSearch(search).run({ query: 'lamps', limit: 2 }, context)).toEqual([
    { title: 't0', url: 'https://a.example/0', snippet: 's' },
    { title: 't1', url: 'https://a.example/1', snippet: 's' },
  ])
  expect(await webSearch(search).run({ query: 'lamps' }, context)).toHaveLength(10)
  expect(asked[0]).toEqual(['lamps', { limit: 2, signal: context.signal }])
})

test('without a provider it exists, and its error says what is missing', async () => {
  await expect(webSearch(null).run({ query: 'lamps' }, context)).rejects.toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    detail: expect.stringContaining('no search provider is configured'),
  })
})

test('its results are untrusted', () =>
  expect(webSearch(null)).toMatchObject({ effect: 'none', egress: true, untrusted: true }))
