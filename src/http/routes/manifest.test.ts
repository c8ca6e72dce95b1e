/** The running system over HTTP: its graph, its validation and its versions. */
import { afterEach, expect, test } from 'vitest'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { fn } from '../../index.ts'

let app: HttpApp
afterEach(() => app.close())

interface Node {
  readonly id: string
  readonly counts: unknown
}

const nodesOf = (body: { readonly nodes: readonly Node[] }): ReadonlyMap<string, Node> =>
  new Map(body.nodes.map((node) => [node.id, node]))

test('[A3] a handler in the graph shows how many of its runs are running, waiting and failed', async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.paid': null },
    functions: [
      fn('ship', { trigger: 'order.paid', emits: ['order.shipped'] }, ({ step }) =>
        step.waitForEvent('sent', { event: 'x.sent' }),
      ),
      fn('tell', { trigger: { event: 'order.shipped', filter: 'payload.express' } }, () => 1),
      fn('count', { trigger: { after: 'ship' } }, () => 1),
      fn('break', { trigger: 'order.lost', retry: { maxAttempts: 1 } }, () => {
        throw new Error('no')
      }),
    ],
    schedules: [{ name: 'nightly', cron: '0 2 * * *', tz: 'UTC', function: 'tell' }],
  })
  await app.when(await app.started('order.paid'), 'waiting')
  await app.when(await app.started('order.lost'), 'failed')
  const { status, body } = await app.ask('/api/manifest/graph')
  expect(status).toBe(200)
  const nodes = nodesOf(body)
  expect(nodes.get('function:ship')?.counts).toEqual({ running: 0, waiting: 1, failed: 0, more: [] })
  expect(nodes.get('function:break')?.counts).toEqual({ running: 0, waiting: 0, failed: 1, more: [] })
  expect(nodes.get('event:order.paid')?.counts).toBeNull()
  expect([...nodes.keys()].filter((id) => id.includes('trihand.later'))).toEqual([])
  expect(body.edges).toContainEqual({ from: 'event:order.paid', to: 'function:ship', kind: 'hears', label: '' })
  expect(body.edges).toContainEqual({ from: 'function:ship', to: 'event:order.shipped', kind: 'sends', label: '' })
  expect(body.edges).toContainEqual({
    from: 'event:order.shipped',
    to: 'function:tell',
    kind: 'hears',
    label: 'payload.express',
  })
  expect(body.edges).toContainEqual({ from: 'function:ship', to: 'function:count', kind: 'starts', label: 'after' })
  expect(body.edges).toContainEqual({
    from: 'schedule:nightly',
    to: 'function:tell',
    kind: 'starts',
    label: '0 2 * * *',
  })
  expect(body.mermaid).toMatch(/^flowchart LR/)
})

test('a lint finding is shown on the node it is about, with its place', async () => {
  const finding = {
    level: 'warning',
    code: 'LINT_EVENT_UNHEARD',
    message: 'm',
    file: 'manifest.yaml',
    hint: 'h',
  } as const
  const place = { line: 3, column: 5 }
  app = await openApp({
    name: 'shop',
    functions: [fn('ship', { trigger: 'order.paid' }, () => 1)],
    findings: [
      { ...finding, ...place, path: 'functions.ship.emits.order.shipped' },
      { ...finding, ...place, path: 'events.definitions.order.paid' },
      { ...finding, ...place, path: '' },
    ],
  })
  const { body } = await app.ask('/api/manifest/graph')
  const found = body.nodes.map(({ id, findings }: { id: string; findings: unknown[] }) => [id, findings.length])
  expect(Object.fromEntries(found)).toEqual({ 'function:ship': 1, 'event:order.paid': 1 })
  expect(body.findings).toHaveLength(3)
})

const openShop = () =>
  openApp({ name: 'shop', events: { go: null }, functions: [fn('ship', { trigger: 'go' }, () => 1)] })

test('the running system is described by its name, hash, events and handlers', async () => {
  app = await openShop()
  const { status, body } = await app.ask('/api/manifest')
  expect(status).toBe(200)
  expect(body.hash).toMatch(/^\S{16,}$/)
  expect(body).toMatchObject({ name: 'shop', events: ['go'], handlers: [{ name: 'ship', modality: 'workflow' }] })
})

test('a manifest is validated by its text, with places, without being loaded', async () => {
  app = await openShop()
  const before = (await app.ask('/api/manifest')).text
  const good = await app.post('/api/manifest/validate', { text: 'events:\n  order.placed: {}\n' })
  expect([good.status, typeof good.body.is_valid]).toEqual([200, 'boolean'])
  const bad = await app.post('/api/manifest/validate', { text: 'events: [\n', file: 'shop.yaml' })
  expect([bad.status, bad.body.is_valid]).toEqual([200, false])
  expect(bad.body.findings[0]).toMatchObject({ level: 'error', file: 'shop.yaml', line: expect.any(Number) })
  expect((await app.ask('/api/manifest')).text).toBe(before)
})

test('versions-1: each definition that was loaded is listed with the time of its first load and its open runs', async () => {
  const wait = (name: string) =>
    fn('wait', { trigger: 'go' }, ({ step }) => step.waitForEvent(name, { event: 'never' }))
  const source = (name: string) => ({ name, events: { go: null, never: null }, functions: [wait(name)] })
  app = await openApp(source('old'))
  await app.when(await app.started('go'), 'waiting')
  const listed = async () => (await app.ask('/api/manifest/versions')).body.items
  const [first] = await listed()
  expect(first).toEqual({
    ...{ hash: app.trihand.system.hash, name: 'old', is_current: true },
    ...{ first_seen_at: expect.any(String), open_runs: 1, more: false },
  })
  await app.trihand.replace(source('new'))
  await app.when(await app.started('go'), 'waiting')
  await app.when(await app.started('go'), 'waiting')
  const both = await listed()
  expect(both).toHaveLength(2)
  expect(both).toContainEqual({ ...first, is_current: false })
  expect(both).toContainEqual(expect.objectContaining({ name: 'new', is_current: true, open_runs: 2 }))
  await app.trihand.replace(source('old'))
  expect(await listed()).toContainEqual(first)
})
