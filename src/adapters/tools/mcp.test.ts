/** Tools of real MCP servers: a child process on stdio, and HTTP. */
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { createMcpHandler, McpServer as Served } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { McpServer } from '#model/agent/agent.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ToolContext } from '#ports/tool.ts'
import type { ServedTool, ToolServers } from '#ports/tool-servers.ts'
import { type McpToolsSettings, mcpTools } from './mcp.ts'

const CHILD = fileURLToPath(new URL('../../../test/support/agents/mcp-server.mjs', import.meta.url))
const { signal } = new AbortController()
/** A child may start slowly on a busy machine. */
const PATIENCE_MS = 60_000

const server = (over: Partial<McpServer>): McpServer => ({
  name: 'crm',
  url: null,
  command: null,
  args: [],
  env: {},
  tools: null,
  trusted: false,
  ...over,
})
const stdio = (over: Partial<McpServer> = {}): McpServer =>
  server({ command: process.execPath, args: [CHILD], ...over })

/** The environment of a definition: one secret, and nothing else. */
const resolve = (text: string): string => text.replace(/^\$\{CRM_KEY\}$/, 'key-of-the-crm')

const open = (settings: Partial<McpToolsSettings> = {}): ToolServers => {
  const servers = mcpTools({ resolve, connectMs: PATIENCE_MS, ...settings })
  onTestFinished(() => servers.close())
  return servers
}
const context = (over: Partial<ToolContext> = {}): ToolContext => {
  const none = (): Promise<never> => Promise.reject(new Error('not here'))
  return {
    effectKey: 'k',
    signal,
    workspace: { read: none, write: none, remove: none, list: none },
    fetch: none,
    ...over,
  }
}
const call = async (
  servers: ToolServers,
  at: McpServer,
  recorded: readonly ServedTool[],
  name: string,
  input: Json,
  over: Partial<ToolContext> = {},
): Promise<Json> => {
  const tool = servers.tools(at, recorded).find((one) => one.name === `mcp__crm__${name}`)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return tool.run(input, context(over))
}
const failureOf = async (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'it worked',
    (error: unknown) => (error instanceof TrihandError ? `${error.code} ${error.outcome}` : String(error)),
  )

describe('on stdio', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as definitions write it
  const at = stdio({ env: { CRM_KEY: '${CRM_KEY}' } })
  let servers: ToolServers
  let recorded: readonly ServedTool[]
  // One child for all tests, because starting one is slow.
  beforeAll(async () => {
    process.env['TRIHAND_TEST_SECRET'] = 'key-of-ours'
    servers = mcpTools({ resolve, connectMs: PATIENCE_MS })
    recorded = await servers.list(at, signal)
  }, PATIENCE_MS)
  afterAll(async () => {
    delete process.env['TRIHAND_TEST_SECRET']
    await servers.close()
  })

  test('lists tools in the order of names, with effects from hints, and once without hints', () => {
    expect(recorded.map(({ name, effect }) => [name, effect])).toEqual([
      ['mcp__crm__change', 'once'],
      ['mcp__crm__dies', 'once'],
      ['mcp__crm__env', 'once'],
      ['mcp__crm__fails', 'once'],
      ['mcp__crm__get', 'none'],
      ['mcp__crm__hangs', 'once'],
      ['mcp__crm__put', 'idempotent'],
      ['mcp__crm__send', 'once'],
      ['mcp__crm__shape', 'once'],
    ])
    expect(recorded.find(({ name }) => name === 'mcp__crm__get')).toMatchObject({
      description: 'Gets.',
      input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    })
    expect(JSON.parse(JSON.stringify(recorded))).toEqual(recorded)
  })

  test('returns text, structured content, and an error of the tool as a result', async () => {
    expect(await call(servers, at, recorded, 'get', { id: 'c7' })).toBe('got c7')
    expect(await call(servers, at, recorded, 'shape', {})).toEqual({ n: 1 })
    expect(await call(servers, at, recorded, 'fails', {})).toEqual({ is_error: true, message: 'no such customer' })
  })

  test('an input that the server refuses is reported with its message', async () => {
    const answer = await call(servers, at, recorded, 'get', { id: 7 }).catch(String)
    expect(JSON.stringify(answer)).toMatch(/id/)
  })

  test('a child has the variables that are declared for it, and none of ours', async () => {
    const found = JSON.parse(String(await call(servers, at, recorded, 'env', {})))
    expect(found).toMatchObject({ CRM_KEY: 'key-of-the-crm' })
    const known = ['HOME', 'PATH', 'SHELL', 'TERM', 'LOGNAME', 'USER', 'CRM_KEY']
    expect(Object.keys(found).filter((name) => !known.includes(name))).toEqual([])
  })

  test('an aborted call rejects with the reason', async () => {
    const abort = new AbortController()
    const hanging = failureOf(call(servers, at, recorded, 'hangs', {}, { signal: abort.signal }))
    abort.abort(new Error('enough'))
    expect(await hanging).toBe('Error: enough')
  })

  test('tool-servers-1: a tool that has changed since it was recorded, or is gone, is not called; others are', async () => {
    expect(await call(servers, at, recorded, 'send', { id: 'm1' })).toBe('sent m1')
    await call(servers, at, recorded, 'change', {})
    expect(await failureOf(call(servers, at, recorded, 'send', { id: 'm2' }))).toBe('TOOL_CHANGED not_done')
    const gone: ServedTool = { name: 'mcp__crm__gone', description: '', input: {}, effect: 'none' }
    expect(await failureOf(call(servers, at, [gone], 'gone', {}))).toBe('TOOL_CHANGED not_done')
    expect(await call(servers, at, recorded, 'get', { id: 'c1' })).toBe('got c1')
  })

  test('tool-servers-2: a server that dies in a call leaves an unknown outcome, and is restarted for the next call', async () => {
    expect(await failureOf(call(servers, at, recorded, 'dies', {}))).toBe('TOOL_UNAVAILABLE unknown')
    // A new child: the changes in the old one were lost with it.
    expect(await call(servers, at, recorded, 'send', { id: 'm3' })).toBe('sent m3')
  })

  test('tool-servers-2: a program that does not exist fails with the outcome not_done', async () => {
    const listing = open().list(stdio({ command: '/nowhere/mcp' }), signal)
    expect(await failureOf(listing)).toBe('TOOL_UNAVAILABLE not_done')
  })

  test('tool-servers-2: a child that ends at once fails with the outcome not_done, and its error output is quoted', async () => {
    const listing = open().list(stdio({ args: ['-e', 'console.error("no licence"); process.exit(1)'] }), signal)
    await expect(listing).rejects.toMatchObject({
      code: 'TOOL_UNAVAILABLE',
      detail: expect.stringMatching(/no licence/),
    })
  })
})

describe('over HTTP', () => {
  interface Started {
    readonly at: McpServer
    readonly seen: Request[]
  }

  const start = async (answer?: (request: Request) => Response | null): Promise<Started> => {
    const seen: Request[] = []
    const handler = createMcpHandler(() => {
      const served = new Served({ name: 'crm', version: '1' }, { capabilities: { tools: {} } })
      const inputSchema = z.object({ id: z.string() })
      const got = async ({ id }: { id: string }) => ({ content: [{ type: 'text' as const, text: `got ${id}` }] })
      served.registerTool('get', { inputSchema, annotations: { readOnlyHint: true } }, got)
      served.registerTool('hangs', { inputSchema }, () => new Promise(() => {}))
      return served
    })
    const fetch = async (request: Request): Promise<Response> => {
      seen.push(request)
      return answer?.(request) ?? handler.fetch(request)
    }
    return new Promise((started) => {
      const listening = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
        started({ at: server({ url: `http://127.0.0.1:${port}/mcp` }), seen })
      })
      onTestFinished(async () => {
        await handler.close()
        listening.close()
      })
    })
  }

  test.each([60_000, 0])('lists and calls, and keeps the connection for %i ms', async (idleMs) => {
    const { at } = await start()
    const servers = open({ idleMs })
    const recorded = await servers.list(at, signal)
    expect(recorded).toMatchObject([
      { name: 'mcp__crm__get', effect: 'none' },
      { name: 'mcp__crm__hangs', effect: 'once' },
    ])
    expect(await call(servers, at, recorded, 'get', { id: 'c7' })).toBe('got c7')
  })

  test('tool-servers-2: a call that takes too long leaves an unknown outcome', async () => {
    const { at } = await start()
    const servers = open({ callMs: 20 })
    const recorded = await servers.list(at, signal)
    expect(await failureOf(call(servers, at, recorded, 'hangs', { id: 'c7' }))).toBe('TOOL_UNAVAILABLE unknown')
  })

  test('a redirect is not followed', async () => {
    const other = await start()
    const { at } = await start(() => Response.redirect(other.at.url ?? '', 307))
    expect(await failureOf(open().list(at, signal))).toBe('TOOL_UNAVAILABLE not_done')
    expect(other.seen).toEqual([])
  })

  test('the manifest chooses the tools that agents see', async () => {
    const { at } = await start()
    expect((await open().list({ ...at, tools: { get: {} } }, signal)).map(({ name }) => name)).toEqual([
      'mcp__crm__get',
    ])
  })

  test('an unreachable address fails with the outcome not_done', async () => {
    expect(await failureOf(open().list(server({ url: 'http://127.0.0.1:1/mcp' }), signal))).toBe(
      'TOOL_UNAVAILABLE not_done',
    )
  })
})

describe('tools in the manifest', () => {
  const recorded: readonly ServedTool[] = ['get', 'send'].map((name) => ({
    name: `mcp__crm__${name}`,
    description: '',
    input: {},
    effect: name === 'get' ? 'none' : 'once',
  }))

  test('override the hints of the server, but a hint never removes an approval', () => {
    const at = stdio({ tools: { get: { effect: 'once', approval: true }, send: { effect: 'idempotent' } } })
    expect(open().tools(at, recorded)).toMatchObject([
      { name: 'mcp__crm__get', effect: 'once', approval: true },
      { name: 'mcp__crm__send', effect: 'idempotent' },
    ])
  })

  test.each([true, false])('are untrusted and reach the outside unless their server is trusted: %s', (trusted) => {
    expect(open().tools(stdio({ trusted }), recorded)[0]).toMatchObject({ untrusted: !trusted, egress: !trusted })
  })

  test('of a server without url and command are CONFIG_INVALID', async () => {
    expect(await failureOf(open().list(server({}), signal))).toBe('CONFIG_INVALID not_done')
  })
})
