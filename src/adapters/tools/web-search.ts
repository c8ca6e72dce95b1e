/**
 * The tool WebSearch: calls the search provider that the host has configured, or fails without one.
 *
 * Owns the tool's schema and how many results are returned. It does not know the provider: none is built in.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Found, Search } from '#ports/search.ts'
import type { Tool } from '#ports/tool.ts'

const USUAL = 10
const MOST = 25
const NONE = 'no search provider is configured; give createTrihand `agents: { search }`'

interface Asked {
  readonly query: string
  readonly limit?: number
}

const plain = ({ title, url, snippet }: Found): Json => ({
  title: String(title),
  url: String(url),
  snippet: String(snippet),
})

export const webSearch = (search: Search | null): Tool => ({
  name: 'WebSearch',
  description: 'Searches the web and returns titles, addresses and short excerpts.',
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 500 },
      limit: { type: 'integer', minimum: 1, maximum: MOST },
    },
    required: ['query'],
    additionalProperties: false,
  },
  effect: 'none',
  egress: true,
  untrusted: true,
  timeoutMs: 15_000,
  run: async (input, { signal }) => {
    if (search === null) throw new TrihandError('TOOL_UNAVAILABLE', NONE)
    const { query, limit = USUAL } = input as unknown as Asked
    const found = await search.find(query, { limit, signal })
    return found.slice(0, limit).map(plain)
  },
})
