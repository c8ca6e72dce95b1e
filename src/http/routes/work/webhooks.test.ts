/** Webhooks over HTTP: accepted paths and methods, and the responses. */
import { createHmac } from 'node:crypto'
import { type OutgoingHttpHeaders, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { listen } from '#http/server/server.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const KEY = 'a2V5a2V5a2V5a2V5'
let app: HttpApp

beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null, 'order.paid': null },
    webhooks: [
      { name: 'orders', auth: 'none', unsigned: true, emits: 'order.placed' },
      { name: 'pay', path: '/hooks/bank/pay', auth: 'bearer', secret: 'open sesame', emits: 'order.paid' },
      { name: 'git', auth: 'hmac', secret: 'key', header: 'x-sig', emits: 'order.paid' },
      { name: 'chat', auth: 'hmac', scheme: 'slack', secret: 'key', header: 'x-sig', emits: 'order.paid' },
      { name: 'bank', auth: 'hmac', scheme: 'stripe', secret: 'key', header: 'x-sig', emits: 'order.paid' },
      { name: 'std', auth: 'standard', secret: KEY, emits: 'order.paid' },
      {
        ...{ name: 'seen', auth: 'hmac', secret: 'key', header: 'x-sig', emits: 'order.paid' },
        transform: { via: '{{ headers.via }}' },
      },
      { name: 'odd', auth: 'none', unsigned: true, emits: 'order.placed', transform: { n: '{{ body.n }}' } },
    ],
    functions: [fn('ship', { trigger: 'order.placed' }, ({ input }) => input)],
  })
})
afterAll(() => app.close())

test('[L1] a delivery is answered with the receipt once it is durable, a repeat with the receipt of the first', async () => {
  const first = await app.post('/hooks/orders', { n: 1 }, { 'webhook-id': 'a' })
  const again = await app.post('/hooks/orders', { n: 1 }, { 'webhook-id': 'a' })
  expect([first.status, again.status]).toEqual([202, 200])
  expect(again.body).toEqual({ ...first.body, duplicate: true })
  expect((await app.when(first.body.runs[0], 'success')).output).toEqual({ n: 1 })
})

test('a form and a text are accepted as bodies, too', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const { body } = await app.post('/hooks/orders', 'n=1&m=2', form)
  const text = await app.post('/hooks/orders', 'n=1', { 'content-type': 'text/plain' })
  expect((await app.when(body.runs[0], 'success')).output).toEqual({ n: '1', m: '2' })
  expect((await app.when(text.body.runs[0], 'success')).output).toBe('n=1')
})

test.each([
  ['/hooks/nobody', {}, 404, 'NOT_FOUND'],
  ['/hooks/bank/pay', {}, 401, 'SIGNATURE_INVALID'],
  ['/hooks/bank/pay', { authorization: 'Bearer open sesam' }, 401, 'SIGNATURE_INVALID'],
  ['/hooks/odd', { 'webhook-id': 'x' }, 422, 'TEMPLATE_ERROR'],
  ['/hooks/orders', { 'webhook-id': 'y'.repeat(300) }, 422, 'EVENT_INVALID'],
])('a delivery to %s with %j is refused with %i %s', async (path, headers, status, code) => {
  const answer = await app.post(path, {}, headers)
  expect([answer.status, answer.body.code]).toEqual([status, code])
})

test('[S5] GET is refused and delivers nothing', async () => {
  const { status, headers } = await app.ask('/hooks/orders')
  expect([status, headers.get('allow')]).toEqual([405, 'POST'])
})

test('refused deliveries are listed with the error, a page at a time', async () => {
  await app.post('/hooks/odd', { first: 1 }, { 'webhook-id': 'kept-1' })
  await app.post('/hooks/odd', { second: 2 }, { 'webhook-id': 'kept-2' })
  const all = await app.ask('/api/webhooks/dead-letters')
  const mine = all.body.items.filter(({ delivery }: { delivery: string }) => delivery.startsWith('kept-'))
  expect(mine).toMatchObject([
    { webhook: 'odd', delivery: 'kept-1', media: 'application/json', body: '{"first":1}', code: 'TEMPLATE_ERROR' },
    { webhook: 'odd', delivery: 'kept-2', body: '{"second":2}' },
  ])
  const first = await app.ask('/api/webhooks/dead-letters?limit=1')
  const second = await app.ask(
    `/api/webhooks/dead-letters?limit=1&cursor=${encodeURIComponent(first.body.next_cursor)}`,
  )
  expect([...first.body.items, ...second.body.items]).toEqual(all.body.items.slice(0, 2))
})

test('a refused delivery can be replayed by its id, and an unknown one cannot', async () => {
  const refused = await app.post('/hooks/odd', { m: 1 }, { 'webhook-id': 'z' })
  expect(refused.body.detail).toContain('kept as z')
  const again = await app.post('/api/webhooks/odd/replay', { delivery: 'z' })
  expect([again.status, again.body.code]).toEqual([422, 'TEMPLATE_ERROR'])
  const unknown = await app.post('/api/webhooks/odd/replay', { delivery: 'nobody' })
  expect([unknown.status, unknown.body.code]).toEqual([404, 'NOT_FOUND'])
})

const sign = (text: string, key: string | Buffer = 'key'): Buffer => createHmac('sha256', key).update(text).digest()

/** Sends over a socket, where a header can appear twice. */
const deliver = (url: string, path: string, headers: OutgoingHttpHeaders, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method: 'POST', headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject).end(body)
  })

test('signature-1 signature-2 webhook-2: [L1] over a socket no second header, other encoding or old time makes a repeated delivery count as new (13.3.4)', async () => {
  const server = await listen({ fetch: (asked) => app.fetch(asked), port: 0 })
  try {
    const body = '{"n":1}'
    const hex = sign(body).toString('hex')
    const to = (path: string, headers: OutgoingHttpHeaders, text = body) => deliver(server.url, path, headers, text)
    const json = { 'content-type': 'application/json' }
    expect(await to('/hooks/git', { ...json, 'x-sig': hex, 'webhook-id': 'a' })).toBe(202)
    // The same bytes under other ids are the same delivery.
    for (const headers of [
      { 'x-sig': hex, 'webhook-id': 'b' },
      { 'x-sig': `sha256=${hex}`, 'x-github-delivery': 'c' },
      { 'x-sig': sign(body).toString('base64'), 'idempotency-key': 'd', 'x-request-id': 'e' },
    ])
      expect([headers, await to('/hooks/git?again=1', { ...json, ...headers })]).toEqual([headers, 200])
    for (const given of [
      [hex, hex],
      [`${hex}`, 'x'],
      ['x', hex],
      `${hex},${hex}`,
      hex.slice(0, -1),
      hex.toUpperCase(),
      '',
    ])
      expect([given, await to('/hooks/git', { ...json, 'x-sig': given })]).toEqual([given, 401])
    for (const text of ['{"n": 1}', '{"n":1}\n', '\ufeff{"n":1}', '{"n":1,"n":2}'])
      expect([text, await to('/hooks/git', { ...json, 'x-sig': hex }, text)]).toEqual([text, 401])
    const now = Math.floor(Date.now() / 1_000)
    const slack = (at: number | string) => `v0=${sign(`v0:${at}:${body}`).toString('hex')}`
    const stripe = (at: number | string) => `t=${at},v1=${sign(`${at}.${body}`).toString('hex')}`
    const stamp = (at: number | string | readonly string[], sig: string) =>
      to('/hooks/chat', { ...json, 'x-slack-request-timestamp': at as string, 'x-sig': sig })
    for (const at of [now - 400, now + 400, '', `${now}.0`, `+${now}`, `0x${now.toString(16)}`, `${now}000`]) {
      expect([at, await stamp(String(at), slack(at))]).toEqual([at, 401])
      expect([at, await to('/hooks/bank', { ...json, 'x-sig': stripe(at) })]).toEqual([at, 401])
    }
    const old = now - 400
    expect(await stamp([String(old), String(now)], slack(old))).toBe(401)
    expect(await stamp(String(now), slack(old))).toBe(401)
    for (const sig of [`t=${now},${stripe(old)}`, `${stripe(old)},t=${now}`, [stripe(old), `t=${now}`]])
      expect([sig, await to('/hooks/bank', { ...json, 'x-sig': sig })]).toEqual([sig, 401])
    expect([await stamp(String(now), slack(now)), await stamp(String(now - 1), slack(now - 1))]).toEqual([202, 200])
    expect(await to('/hooks/bank', { ...json, 'x-sig': stripe(now) })).toBe(202)
    expect(await to('/hooks/bank', { ...json, 'x-sig': stripe(now - 2) })).toBe(200)
    const standard = (id: string, at: number) =>
      `v1,${sign(`${id}.${at}.${body}`, Buffer.from(KEY, 'base64')).toString('base64')}`
    const std = (id: string | readonly string[], at: number, sig: string) =>
      to('/hooks/std', {
        ...json,
        ...{ 'webhook-id': id as string, 'webhook-timestamp': at, 'webhook-signature': sig },
      })
    expect(await std('m1', now, standard('m1', now))).toBe(202)
    expect(await std('m1', now, `v1,x ${standard('m1', now)}`)).toBe(200)
    expect(await std('m2', now, standard('m1', now))).toBe(401)
    expect(await std(['m1', 'm2'], now, standard('m1', now))).toBe(401)
    expect(await std('m1', old, standard('m1', old))).toBe(401)
  } finally {
    await server.stop()
  }
})

test('webhook-2: [L1] a repeated HMAC delivery counts as the first one, also where its transform reads a header (13.3.4)', async () => {
  const headers = { 'x-sig': sign('{"n":7}').toString('hex') }
  const first = await app.post('/hooks/seen', { n: 7 }, { ...headers, via: 'one' })
  const again = await app.post('/hooks/seen', { n: 7 }, { ...headers, via: 'two' })
  expect([first.status, again.status, again.body.code]).toEqual([202, 200, undefined])
  expect(again.body).toEqual({ ...first.body, duplicate: true })
})
