/** WebFetch over the real guarded fetch, to a real server on this machine that plays the public network. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ToolContext } from '#ports/tool.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { webFetch } from './web-fetch.ts'

let page: { readonly type: string; readonly text: string }
let url: string
let close: () => void
let context: ToolContext

beforeEach(async () => {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': page.type }).end(page.text))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  url = `http://docs.test:${port}/page`
  close = () => server.close()
  const fetch = guardedFetch(
    { allowsHost: (host) => host === 'docs.test', ports: [port] },
    { resolve: async () => ['127.0.0.1'], mayReach: () => true },
  )
  const none = async (): Promise<never> => {
    throw new Error('no workspace here')
  }
  context = {
    effectKey: 'k',
    signal: new AbortController().signal,
    workspace: { read: none, write: none, remove: none, list: none },
    fetch,
  }
})
afterEach(() => close())

const run = async (input: Json): Promise<Json> => webFetch.run(input, context)
const codeOf = async (call: Promise<Json>): Promise<string> =>
  call.then(
    () => 'nothing',
    (error: unknown) => (error instanceof TrihandError ? error.code : String(error)),
  )

test('a page becomes text: headings, links and tables, without scripts and pictures', async () => {
  const text = `<html><head><title>T</title><style>p{}</style></head><body><h1>Prices</h1><script>alert(1)</script>
    <p>See <a href="https://a.example/b">the list</a>.</p><img src="https://spy.example/x.png" alt="spy">
    <table><tr><th>Name</th><th>Euro</th></tr><tr><td>Tea</td><td>3</td></tr></table></body></html>`
  page = { type: 'text/html; charset=utf-8', text }
  const found = (await run({ url })) as { readonly text: string }
  expect(found).toMatchObject({ url, status: 200, type: 'text/html' })
  expect(found.text).toContain('Prices')
  expect(found.text).toContain('the list [https://a.example/b]')
  expect(found.text).toMatch(/Name\s+Euro\s+Tea\s+3/)
  expect(found.text).not.toMatch(/alert|spy|p\{\}/)
})

test.each(['text/plain', 'application/json', 'application/ld+json', 'text/csv', 'application/xml'])(
  '%s is returned unchanged',
  async (type) => {
    page = { type, text: '{"a": "<b>"}' }
    expect(await run({ url })).toMatchObject({ type, text: '{"a": "<b>"}' })
  },
)

test.each(['image/png', 'application/pdf', 'application/octet-stream', 'video/mp4'])('%s is refused', async (type) => {
  page = { type, text: 'x' }
  expect(await codeOf(run({ url }))).toBe('URL_BLOCKED')
})

test('another host is refused', async () => {
  page = { type: 'text/plain', text: 'x' }
  expect(await codeOf(run({ url: url.replace('docs.test', 'evil.test') }))).toBe('URL_BLOCKED')
})

test.each<Json>([null, {}, { url: 1 }, 'https://a.example'])('the input %j is refused', async (input) => {
  expect(await codeOf(run(input))).toBe('INPUT_INVALID')
})

test('it is declared as read-only, as reaching the outside, and as untrusted', () => {
  expect(webFetch).toMatchObject({ effect: 'none', egress: true, untrusted: true })
})
