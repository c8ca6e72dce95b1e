/**
 * The tool WebFetch: returns a page or a document of an allowed host as text.
 *
 * Owns which types are read and how. The context's fetch (guarded-fetch.ts) owns hosts and limits. The returned text was written by
 * strangers.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Tool } from '#ports/tool.ts'
import { htmlToText } from './html.ts'

const ACCEPT = 'text/html, application/xhtml+xml, text/*, application/json, application/xml;q=0.9'
const TEXT_TYPE = /^(text\/[\w.+-]+|application\/([\w.+-]+\+)?(json|xml)|application\/(x-)?(javascript|yaml|ndjson))$/
const HTML_TYPE = /^(text\/html|application\/xhtml\+xml)$/

const urlOf = (input: Json): string => {
  const url = typeof input === 'object' && input !== null ? (input as { readonly [key: string]: Json })['url'] : null
  if (typeof url === 'string') return url
  throw new TrihandError('INPUT_INVALID', 'WebFetch takes {"url": "https://…"}')
}

export const webFetch: Tool = {
  name: 'WebFetch',
  description: 'Fetches a page or document from an allowed host over http(s) and returns its text.',
  input: {
    type: 'object',
    properties: { url: { type: 'string', description: 'The full URL, with http:// or https://.', maxLength: 2_048 } },
    required: ['url'],
    additionalProperties: false,
  },
  effect: 'none',
  egress: true,
  untrusted: true,
  timeoutMs: 15_000,
  run: async (input, { fetch, signal }) => {
    const url = urlOf(input)
    const { status, headers, text } = await fetch(url, { headers: { accept: ACCEPT }, signal })
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? 'text/plain'
    if (!TEXT_TYPE.test(type)) throw new TrihandError('URL_BLOCKED', `${url} is ${type}; only text can be read`)
    return { url, status, type, text: HTML_TYPE.test(type) ? await htmlToText(text) : text }
  },
}
