/** An application that serves the API and the pages from its own server, with the commands beside it. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Trihand, TrihandOptions } from '#compose/assemble.ts'
import { human } from '#manifest/human/humans.ts'
import { PROJECT } from '#test/support/places.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const SYSTEM = {
  name: 'embedded',
  events: { wanted: null },
  humans: [
    human('sign', {
      trigger: 'wanted',
      title: 'Sign {{ payload.what }}',
      assign: 'group:leads',
      actions: ['approve', 'reject'],
    }),
  ],
}

type Create = (options: TrihandOptions) => Promise<Trihand>

let create: Create
const closers: (() => Promise<void> | void)[] = []

beforeAll(async () => {
  buildCommand()
  const built = await import(/* @vite-ignore */ pathToFileURL(join(PROJECT, 'dist/index.js')).href)
  create = built.createTrihand
})

afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const open = async (options: Partial<TrihandOptions> = {}): Promise<Trihand> => {
  const app = await create({ system: SYSTEM, database: 'memory:', drain: 100, ...options })
  closers.push(() => app.close())
  return app
}

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return addressOf(server)
}

interface Answer {
  readonly status: number
  readonly code: string | undefined
}

const answerOf = async (response: Response): Promise<Answer> => {
  const body = (await response.json().catch(() => ({}))) as { readonly code?: string }
  return { status: response.status, code: body.code }
}

const titlesAt = async (url: string, init?: RequestInit): Promise<readonly string[]> => {
  const { items } = (await (await fetch(`${url}/api/tasks`, init)).json()) as { items: { title: string }[] }
  return items.map(({ title }) => title)
}

const FAR = { headers: { host: 'shop.example' } }

test('embed-1: without a hook only callers on this machine are answered (15.5.2)', async () => {
  const app = await open({ http: { basePath: '/trihand' } })
  const url = await listen(app.node)
  expect(await titlesAt(`${url}/trihand`)).toEqual([])
  const tasks = `${url}/trihand/api/tasks`
  const ask = (init: RequestInit = {}, address?: string) =>
    app.fetch(new Request(tasks, init), address === undefined ? undefined : { address }).then(answerOf)
  const refused = { status: 403, code: 'VISITOR_UNKNOWN' }
  const fine = { status: 200, code: undefined }
  expect(await ask()).toEqual(fine)
  expect(await ask({}, '127.0.0.1')).toEqual(fine)
  expect(await ask({}, '::ffff:127.0.0.1')).toEqual(fine)
  // A Host header with this machine's name proves nothing: any caller can send it.
  expect(await ask({ headers: { host: 'localhost' } })).toEqual(refused)
  expect(await ask({ headers: { host: 'localhost' } }, '10.0.0.9')).toEqual(refused)
  expect(await ask({}, '10.0.0.9')).toEqual(refused)
  expect(await ask(FAR, '127.0.0.1')).toEqual({ status: 403, code: 'HOST_FORBIDDEN' })
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])
    expect([name, await answerOf(await fetch(tasks, { headers: { [name]: '10.0.0.9' } }))]).toEqual([name, refused])
  expect(await answerOf(await app.fetch(new Request('http://shop.example/trihand/health')))).toEqual(refused)
  expect(await answerOf(await fetch(`${url}/trihand/api/stop`, { method: 'POST', headers: { via: 'x' } }))).toEqual(
    refused,
  )
})

const identified = (): Promise<Trihand> =>
  open({
    http: {
      basePath: '/ops/trihand/',
      identify: (request) => {
        const [, name = ''] = /user=(\w+)/.exec(request.headers.get('cookie') ?? '') ?? []
        if (name === 'robot') return { id: name, kind: 'agent', roles: ['viewer', 'decider'] }
        if (name === 'root') return { id: name, roles: ['viewer', 'decider', 'operator', 'admin'] }
        if (name === 'bad') return { id: '', roles: ['king' as never] }
        if (name !== '') return { id: name, groups: ['leads'] }
        return request.url.endsWith('/inbox') ? Response.redirect('https://shop.example/login', 302) : null
      },
    },
  })

test('embed-2: the hook decides who the caller is, whatever the request claims (15.5.2)', async () => {
  const app = await identified()
  const base = 'https://shop.example/ops/trihand'
  const ask = async (path: string, user: string | null, init: RequestInit = {}) => {
    const cookie: Record<string, string> = user === null ? {} : { cookie: `user=${user}` }
    return app.fetch(
      new Request(`${base}${path}`, { ...init, headers: { host: 'shop.example', ...cookie, ...init.headers } }),
      { address: '10.0.0.9' },
    )
  }
  expect(await answerOf(await ask('/api/me', null))).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
  expect(
    await answerOf(await ask('/api/me', null, { headers: { 'x-trihand-user': 'root', accept: 'text/html' } })),
  ).toEqual({ status: 401, code: 'UNAUTHENTICATED' })
  expect((await ask('/inbox', null)).headers.get('location')).toBe('https://shop.example/login')
  expect((await ask('/login?next=/ops/trihand/runs', null)).headers.get('location')).toBe('/ops/trihand/runs')
  expect((await ask('/health/live', null)).status).toBe(200)
  const me = (await (await ask('/api/me', 'ana', { headers: { 'x-trihand-user': 'root' } })).json()) as object
  expect(me).toMatchObject({
    id: 'ana',
    groups: ['leads'],
    roles: ['viewer', 'decider'],
    is_login: true,
    can_log_out: false,
  })
  const post = (path: string, user: string, body: object, headers = {}) =>
    ask(path, user, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  const wanted = { type: 'wanted', data: { what: 'it' } }
  expect(await answerOf(await post('/api/events', 'ana', wanted))).toEqual({ status: 403, code: 'ROLE_MISSING' })
  expect(await answerOf(await post('/api/events', 'root', wanted, { origin: 'https://evil.example' }))).toEqual({
    status: 403,
    code: 'ORIGIN_FORBIDDEN',
  })
  expect((await post('/api/events', 'root', wanted, { origin: 'https://shop.example' })).status).toBe(202)
  const [task] = await until(
    async () => ((await (await ask('/api/tasks', 'ana')).json()) as { items: { id: string }[] }).items,
    (items) => items.length === 1,
    { what: 'the task is there' },
  )
  const { shown_hash } = (await (await ask(`/api/tasks/${task?.id}`, 'ana')).json()) as { shown_hash: string }
  const decide = (user: string, headers = {}) =>
    post(`/api/tasks/${task?.id}/decision`, user, { action: 'approve', shown_hash }, headers)
  expect((await answerOf(await decide('robot'))).code).toBe('AGENT_CANNOT_DECIDE')
  expect((await answerOf(await decide('ana', { 'x-trihand-kind': 'agent' }))).code).toBe('AGENT_CANNOT_DECIDE')
  expect((await answerOf(await decide('root'))).code).toBe('TASK_FORBIDDEN')
  expect((await decide('ana', { 'x-trihand-user': 'bob' })).status).toBe(200)
  const closed = (await (await ask(`/api/tasks/${task?.id}`, 'ana')).json()) as { end: { decided_by?: string } }
  expect(JSON.stringify(closed.end)).toContain('ana')
  expect((await answerOf(await ask('/api/me', 'bad'))).status).toBe(422)
  const intent = { tenant: 'local', name: 'ci', kind: 'service', roles: ['viewer'], groups: [] } as const
  const { token } = await app.tokens.create(intent as never, 'test')
  expect((await ask('/api/runs', null, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  expect((await answerOf(await ask('/api/runs', null, { headers: { authorization: 'Bearer th_wrong' } }))).status).toBe(
    401,
  )
})

/** The first bytes of an event stream. */
const firstOf = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return new TextDecoder().decode(value)
}

/** Mounts like Express: `url` without the path of the router, and the rest of the application after it. */
const asExpress =
  (mount: string, handler: (incoming: IncomingMessage, outgoing: never, next: () => void) => void): RequestListener =>
  (incoming, outgoing) => {
    const original = incoming.url ?? ''
    Object.assign(incoming, { originalUrl: original, url: original.slice(mount.length) || '/' })
    handler(incoming, outgoing as never, () => outgoing.end(`next ${incoming.url}`))
  }

test('pages, files, streams and commands work below a path of node:http, Hono and Express (15.5.2)', async () => {
  const app = await open({ http: { basePath: '/trihand' } })
  const hono = new Hono()
  hono.all('/trihand/*', (context) => app.fetch(context.req.raw))
  hono.get('/', (context) => context.text('the shop'))
  const server = serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }) as Server
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await until(
    () => server.listening,
    (isListening) => isListening,
    { what: 'Hono listens' },
  )
  const bare = await listen(app.node)
  const [inHono, express] = [addressOf(server), await listen(asExpress('', app.node))]
  const mounted = await listen(asExpress('/trihand', app.node))
  for (const url of [bare, inHono, express, mounted]) {
    const page = await fetch(`${url}/trihand/inbox`, { headers: { accept: 'text/html' } })
    const html = await page.text()
    expect([url, page.status, html.includes('<meta name="mount" content="/trihand" />')]).toEqual([url, 200, true])
    const [script = ''] = /\/trihand\/assets\/[\w.-]+\.js/.exec(html) ?? []
    expect((await fetch(`${url}${script}`)).headers.get('content-type')).toContain('text/javascript')
    const stream = await fetch(`${url}/trihand/api/stream`)
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    expect(await firstOf(stream)).toContain('retry')
    const sent = await fetch(`${url}/trihand/api/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'wanted', data: { what: url } }),
    })
    expect(sent.status).toBe(202)
  }
  expect(await (await fetch(`${express}/shop`)).text()).toBe('next /shop')
  expect(await (await fetch(`${inHono}/`)).text()).toBe('the shop')
  expect(await answerOf(await fetch(`${bare}/trihandle/api/tasks`))).toEqual({ status: 404, code: 'NOT_FOUND' })
  const titles = await until(
    () => titlesAt(`${bare}/trihand`),
    (found) => found.length === 4,
    { what: 'four tasks' },
  )
  expect(new Set(titles)).toEqual(new Set([bare, inHono, express, mounted].map((url) => `Sign ${url}`)))
  const plan = await fetch(`${bare}/trihand/api/plans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'a. sign' }),
  })
  expect(plan.headers.get('location')).toMatch(/^\/trihand\/api\/plans\//)
})

test('an invalid base path is refused at the first request, and a stream ends with the system (15.5.2)', async () => {
  const wrong = await open({ http: { basePath: 'trihand/../x' } })
  await expect(wrong.fetch(new Request('http://localhost/'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  const app = await create({ system: SYSTEM, database: 'memory:', drain: 100 })
  const stream = await app.fetch(new Request('http://localhost/api/stream'))
  await app.close()
  expect(await stream.text()).toContain('retry')
})

test('commands beside an embedded SQLite application use its server, and open the ledger once it has closed (15.5.2)', async () => {
  const folder = new Folder()
  closers.push(() => folder.remove())
  const ledger = join(folder.path, 'support.db')
  const app = await create({ system: SYSTEM, database: ledger, drain: 100 })
  await app.send({ type: 'wanted', data: { what: 'the contract' } })
  const file = `${ledger}.server.json`
  await until(
    () => existsSync(file),
    (isThere) => isThere,
    { what: 'the file is written' },
  )
  expect(statSync(file).mode & 0o077).toBe(0)
  const { url, token } = JSON.parse(readFileSync(file, 'utf8')) as { readonly url: string; readonly token: string }
  expect((await fetch(`${url}/api/tasks`)).status).toBe(401)
  expect((await fetch(`${url}/api/tasks`, { headers: { authorization: `Bearer ${token}x` } })).status).toBe(401)
  expect((await fetch(`${url}/api/tasks`, { headers: { 'x-trihand-user': 'ana' } })).status).toBe(401)
  const flags = ['--database', 'support.db', '--as', 'ana', '--groups', 'leads']
  const { items } = await folder.json(['tasks', 'list', ...flags], { apart: true })
  expect(items).toMatchObject([{ title: 'Sign the contract' }])
  // The same by the environment.
  const shown = await folder.json(['tasks', 'show', items[0].id], { apart: true, env: { DATABASE_URL: 'support.db' } })
  const decided = await folder.run(['tasks', 'decide', items[0].id, 'approve', '--hash', shown.shown_hash, ...flags], {
    apart: true,
  })
  expect([decided.code, decided.stderr]).toEqual([0, ''])
  await app.close()
  expect(existsSync(file)).toBe(false)
  const after = await folder.json(['tasks', 'show', items[0].id, '--database', 'support.db'], { apart: true })
  expect(after.status).toBe('approved')
})
