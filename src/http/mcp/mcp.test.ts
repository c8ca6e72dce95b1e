/** The API as an MCP server, called by the real client over real HTTP, with both ways of agreeing on a protocol version. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type Listening, listen } from '#http/server/server.ts'
import { human } from '#manifest/human/humans.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const SECRET = 'password of the database'

let app: HttpApp
let server: Listening
beforeEach(async () => {
  app = await openApp(
    {
      name: 'letters',
      events: { 'letter.ready': null },
      humans: [human('review', { trigger: 'letter.ready', title: 'Letter {{ payload.n }}', assign: 'group:editors' })],
      functions: [fn('add', {}, async ({ input }) => ({ sum: (input as { a: number }).a + 1 }))],
    },
    (service) => ({ ...service, rehearse: service.rehearse, start: starts(service.start) }),
  )
  server = await listen({ fetch: (request) => app.fetch(request), port: 0 })
})
afterEach(async () => {
  await server.stop()
  await app.close()
})

type Start = (name: string, input: unknown) => Promise<never>

const starts =
  <Given extends (name: string, input: unknown) => unknown>(start: Given): Start =>
  (name, input) => {
    if (name === 'broken') throw new Error(SECRET)
    return start(name, input) as Promise<never>
  }

const connected = async (options: ClientOptions = {}): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url)))
  return client
}

const WAYS: readonly (readonly [string, ClientOptions])[] = [
  ['as it comes', {}],
  ['by asking first', { versionNegotiation: { mode: 'auto' } }],
]

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
const call = async (client: Client, name: string, given: Record<string, unknown> = {}): Promise<any> => {
  const { content, isError = false } = await client.callTool({ name, arguments: given })
  const [said] = content as readonly { readonly text: string }[]
  return { isError, ...JSON.parse(said?.text ?? 'null') }
}

describe.each(WAYS)('a client that agrees on the protocol version %s', (_, options) => {
  test('lists tools with their input schemas, starts a run and waits for its end', async () => {
    const client = await connected(options)
    const { tools } = await client.listTools()
    const wait = tools.find(({ name }) => name === 'wait_run')
    expect(wait).toMatchObject({ inputSchema: { required: ['id'] }, annotations: { readOnlyHint: true } })
    expect(Object.keys(wait?.inputSchema.properties ?? {})).toEqual(['id'])
    const { id } = await call(client, 'start_run', { name: 'add', input: { a: 1 } })
    expect(await call(client, 'wait_run', { id })).toMatchObject({
      isError: false,
      status: 'success',
      output: { sum: 2 },
    })
    await client.close()
  })

  test('mcp-1: bad input, unknown names and a failing engine are reported as problems, without the message of the error', async () => {
    const client = await connected(options)
    expect(await call(client, 'get_run', { id: 'run_nobody' })).toMatchObject({ isError: true, code: 'NOT_FOUND' })
    expect(await call(client, 'start_run', { nmae: 'add' })).toMatchObject({ isError: true, code: 'INPUT_INVALID' })
    expect(await call(client, 'list_runs', { status: 'asleep' })).toMatchObject({
      isError: true,
      code: 'QUERY_UNKNOWN',
    })
    const broken = await call(client, 'start_run', { name: 'broken' })
    expect(broken).toMatchObject({ isError: true, code: 'INTERNAL' })
    expect(JSON.stringify(broken)).not.toContain(SECRET)
    await client.close()
  })
})

test('a run that waits for a person names the task and its page', async () => {
  const client = await connected()
  const { runs } = await call(client, 'send_event', { type: 'letter.ready', data: { n: 1 } })
  const parked = await until(
    () => call(client, 'get_run', { id: runs[0] }),
    (run) => run.waiting_on_people?.length === 1,
    { what: 'the run waits for a person' },
  )
  const [{ task_id, title, url }] = parked.waiting_on_people
  expect(title).toBe('Letter 1')
  expect(url).toBe(`${server.url}/inbox?task=${task_id}`)
  expect((await call(client, 'list_tasks')).items).toMatchObject([{ id: task_id, status: 'pending' }])
  expect(await call(client, 'get_task', { id: task_id })).toMatchObject({ id: task_id, allowed_actions: [] })
  await client.close()
})

test('an agent can write a plan, with its errors by line, and read it, but not approve it', async () => {
  const client = await connected()
  const made = await call(client, 'make_plan', { text: 'a. Add' })
  expect(made).toMatchObject({ isError: false, status: 'draft', errors: [], steps: [{ id: 'a' }] })
  expect(await call(client, 'get_plan', { id: made.id })).toMatchObject({ hash: made.hash })
  const wrong = await call(client, 'make_plan', { text: 'a. Add\nb. Fly (requires step z)' })
  expect(wrong.errors[0]).toMatchObject({ line: 2 })
  await client.close()
})

test('mcp-2: there is no tool that decides, claims or reassigns a task', async () => {
  const client = await connected()
  const { tools } = await client.listTools()
  expect(tools.length).toBeGreaterThan(8)
  expect(
    tools.filter(({ name }) => /decid|claim|approv|reject|respond|draft|escalat|reassign|resolve/.test(name)),
  ).toEqual([])
  await client.close()
})

test('a page of another origin and another host are refused before anything is read', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const evil = await app.open('/mcp', { method: 'POST', body, headers: { ...headers, origin: 'https://evil.example' } })
  expect([evil.status, ((await evil.json()) as { code: string }).code]).toEqual([403, 'ORIGIN_FORBIDDEN'])
  const other = await app.open('http://evil.example/mcp', { method: 'POST', body, headers })
  expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([403, 'HOST_FORBIDDEN'])
})
