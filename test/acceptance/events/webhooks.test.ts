/** Webhooks: authentication, the event made of a body, and what is kept if no event can be made. */
import { createHash, createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fn } from '#executors/workflow/function.ts'
import type { WebhookSource } from '#manifest/define/webhooks.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { openDoors } from '#test/support/doors.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'
import type { Delivery } from '#triggers/signature.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`
/** As a definition has it. */
const REFERENCE = ['$', '{PAY_SECRET}'].join('')
const SIGNER = new Webhook(SECRET)

const signed = (id: string, now: number, body: string): Delivery => ({
  path: '/hooks/pay',
  query: {},
  body: Buffer.from(body),
  headers: {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': SIGNER.sign(id, new Date(now), body),
  },
})

const open = async (place: TestStore, webhook: Partial<WebhookSource> = {}) => {
  const source = {
    name: 'shop',
    events: { paid: z.object({ order: z.string() }) },
    webhooks: [{ name: 'pay', secret: REFERENCE, emits: 'paid', ...webhook }],
    functions: [fn('ship', { trigger: 'paid' }, ({ input }) => input)],
  }
  const system = await startTestSystem(source, place)
  const { webhooks } = openDoors(system, place, { PAY_SECRET: SECRET })
  const receive = (delivery: Delivery) => system.run(() => webhooks.receive(delivery))
  const replay = (id: string) => system.run(() => webhooks.replay('pay', id))
  const events = () => system.store.reader.events({ tenant: LOCAL_TENANT, type: null, before: null, limit: 50 })
  return { system, receive, replay, events, webhooks }
}

onEveryStore('webhooks', (store) => {
  test('[L1] webhook-2: a signed delivery is one event and one run, however often it arrives', async () => {
    const { system, receive, events } = await open(store())
    const delivery = signed('msg_1', system.clock.now(), '{"order":"o-1"}')
    const first = await receive(delivery)
    expect(first).toMatchObject({ id: 'msg_1', duplicate: false, runs: [expect.stringMatching(/^run_/)] })
    await system.advance('2m')
    expect(await receive(delivery)).toEqual({ ...first, duplicate: true })
    await system.settle()
    expect(await system.look(first.runs[0] as never)).toMatchObject({ status: 'success', output: { order: 'o-1' } })
    expect(await events()).toMatchObject([{ type: 'paid', source: '/hooks/pay', id: 'msg_1' }])
    await system.close()
  })

  test('[L1][S12] webhook-1: one flipped bit, an old or early timestamp, another secret or no signature gives 401 and leaves no trace', async () => {
    const { system, receive, events } = await open(store())
    const now = system.clock.now()
    const good = signed('msg_1', now, '{"order":"o-1"}')
    const flipped = [...good.body.keys()].map((at) => {
      const body = Buffer.from(good.body)
      body[at] = (body[at] ?? 0) ^ 1
      return { ...good, body }
    })
    const renamed = { ...good, headers: { ...good.headers, 'webhook-id': 'msg_2' } }
    const { 'webhook-signature': _, ...bare } = good.headers
    const foreign = { ...good.headers, 'webhook-signature': new Webhook('AAAA').sign('msg_1', new Date(now), '{}') }
    const bad = [
      ...flipped,
      renamed,
      { ...good, headers: bare },
      { ...good, headers: foreign },
      signed('msg_1', now - 301_000, '{"order":"o-1"}'),
      signed('msg_1', now + 301_000, '{"order":"o-1"}'),
    ]
    for (const delivery of bad)
      await expect(receive(delivery)).rejects.toMatchObject({ code: 'SIGNATURE_INVALID', status: 401 })
    expect(await events()).toEqual([])
    expect((await receive(signed('msg_1', now - 299_000, '{"order":"o-1"}'))).duplicate).toBe(false)
    await system.close()
  })

  test('[L1] a template gives the event its data; several secrets are valid while one replaces the other', async () => {
    const { system, receive, events } = await open(store(), {
      secret: ['bmV3IHNlY3JldCBub2JvZHkgdXNlcw==', REFERENCE],
      transform: { order: 'o-{{ body.n }}', from: '{{ headers["x-shop"] }}', lines: '{{ body.lines }}' },
    })
    const delivery = signed('msg_1', system.clock.now(), '{"n":7,"lines":[1,2]}')
    await receive({ ...delivery, headers: { ...delivery.headers, 'x-shop': 'north' } })
    expect((await events())[0]?.data).toEqual({ order: 'o-7', from: 'north', lines: [1, 2] })
    await system.close()
  })

  test('[L1] webhook-3: a delivery that makes no event is refused with 422, kept, and replayed once it can be', async () => {
    const place = store()
    let isMended = false
    const transform = ({ body }: { readonly body: unknown }) =>
      isMended ? { order: String((body as { n: number }).n) } : body
    const { system, receive, replay, events } = await open(place, { transform })
    const delivery = signed('msg_1', system.clock.now(), '{"n":7}')
    const refusal = { code: 'EVENT_INVALID', status: 422, detail: expect.stringContaining('kept as msg_1') }
    await expect(receive(delivery)).rejects.toMatchObject(refusal)
    await expect(receive(delivery)).rejects.toMatchObject(refusal)
    expect(await events()).toMatchObject([
      { type: 'trihand.trigger.refused', data: { trigger: '/hooks/pay', delivery: 'msg_1', code: 'EVENT_INVALID' } },
    ])
    isMended = true
    expect(await replay('msg_1')).toMatchObject({ id: 'msg_1', duplicate: false, runs: [expect.any(String)] })
    await expect(replay('msg_1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await receive(delivery)).toMatchObject({ duplicate: true })
    await system.settle()
    await system.close()
  })

  test('webhook-2: [L1] the digest of the body deduplicates an HMAC delivery, whatever its headers say (13.3.4)', async () => {
    const { system, receive, events } = await open(store(), { auth: 'hmac', transform: { order: '{{ body.order }}' } })
    const send = (body: Uint8Array, more: Delivery['headers'] = {}) => {
      const sign = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': sign, ...more }
      return receive({ path: '/hooks/pay', query: {}, body, headers })
    }
    const body = Buffer.from('{"order":"o-1"}')
    const first = await send(body, { 'webhook-id': 'a' })
    expect(first.id).toBe(createHash('sha256').update(body).digest('hex'))
    for (const id of ['b', 'c', ' ', 'd'.repeat(999)])
      expect(await send(body, { 'webhook-id': id, 'x-github-delivery': id })).toMatchObject({
        id: first.id,
        duplicate: true,
      })
    expect(await send(Buffer.from('{"order":"o-2"}'), { 'webhook-id': 'a' })).toMatchObject({ duplicate: false })
    // With a byte order mark it decodes to the same text, but it is another body.
    expect((await send(Buffer.from('\uFEFF{"order":"o-1"}'))).duplicate).toBe(false)
    expect(await events()).toHaveLength(3)
    await system.settle()
    await system.close()
  })

  test('signature-1: [L1][S12] a signature is checked over bytes: bodies that decode to the same text are different (13.3.4)', async () => {
    const { system, receive, events } = await open(store(), { transform: { order: 'x' } })
    const now = system.clock.now()
    const [broken, replaced] = [Buffer.from([0x22, 0xff, 0x22]), Buffer.from('"\uFFFD"')]
    expect(broken.toString('utf8')).toBe(replaced.toString('utf8'))
    const stamp = String(Math.floor(now / 1_000))
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const signedAs = (body: Uint8Array): Delivery => {
      const digest = createHmac('sha256', key).update(`m1.${stamp}.`).update(body).digest('base64')
      const headers = { 'webhook-id': 'm1', 'webhook-timestamp': stamp, 'webhook-signature': `v1,${digest}` }
      return { path: '/hooks/pay', query: {}, body, headers }
    }
    for (const [good, other] of [
      [broken, replaced],
      [replaced, broken],
    ] as const)
      await expect(receive({ ...signedAs(good), body: other })).rejects.toMatchObject({ code: 'SIGNATURE_INVALID' })
    expect(await events()).toEqual([])
    expect(await receive(signedAs(broken))).toMatchObject({ id: 'm1', duplicate: false })
    await system.settle()
    await system.close()
  })

  test.each(['stripe', 'slack'] as const)(
    'signature-2: [L1][S12] an old timestamp is refused if the HMAC covers one: %s (13.3.4)',
    async (scheme) => {
      const { system, receive, events } = await open(store(), { auth: 'hmac', scheme })
      const body = Buffer.from('{"order":"o-1"}')
      const json = { 'content-type': 'application/json' }
      const delivery = (at: number, said = at): Delivery => {
        const [stamp, claimed] = [at, said].map((instant) => String(Math.floor(instant / 1_000)))
        const text = scheme === 'stripe' ? `${stamp}.` : `v0:${stamp}:`
        const digest = createHmac('sha256', SECRET).update(text).update(body).digest('hex')
        const headers =
          scheme === 'stripe'
            ? { ...json, 'stripe-signature': `t=${claimed},v1=00,v1=${digest}` }
            : { ...json, 'x-slack-signature': `v0=${digest}`, 'x-slack-request-timestamp': claimed ?? '' }
        return { path: '/hooks/pay', query: {}, body, headers }
      }
      const now = system.clock.now()
      for (const bad of [delivery(now - 301_000), delivery(now + 301_000), delivery(now - 301_000, now)])
        await expect(receive(bad)).rejects.toMatchObject({ code: 'SIGNATURE_INVALID', status: 401 })
      // An HMAC of the body alone, valid under another scheme, is invalid here.
      const bare = createHmac('sha256', SECRET).update(body).digest('hex')
      const header = scheme === 'stripe' ? 'stripe-signature' : 'x-slack-signature'
      await expect(receive({ ...delivery(now), headers: { ...json, [header]: bare } })).rejects.toMatchObject({
        status: 401,
      })
      expect(await events()).toEqual([])
      expect((await receive(delivery(now))).duplicate).toBe(false)
      expect((await receive(delivery(now + 60_000))).duplicate).toBe(true)
      await system.settle()
      await system.close()
    },
  )

  test('[L1] without an id, the body is the id of an HMAC delivery; an API key and a bearer token are compared', async () => {
    const body = Buffer.from('{"order":"o-1"}')
    const json = { 'content-type': 'application/json' }
    const hmac = createHmac('sha256', SECRET).update(body).digest('hex')
    const cases = [
      { auth: 'hmac', good: { 'x-hub-signature-256': `sha256=${hmac}` }, bad: { 'x-hub-signature-256': 'sha256=00' } },
      { auth: 'api_key', good: { 'x-api-key': SECRET }, bad: { 'x-api-key': `${SECRET}x` } },
      { auth: 'bearer', good: { authorization: `Bearer ${SECRET}` }, bad: { authorization: SECRET } },
    ] as const
    for (const { auth, good, bad } of cases) {
      const { system, receive, events } = await open(store(), { auth })
      const delivery = { path: '/hooks/pay', query: {}, body, headers: { ...json, ...good } }
      await expect(receive({ ...delivery, headers: { ...json, ...bad } })).rejects.toMatchObject({ status: 401 })
      await expect(receive({ ...delivery, headers: json })).rejects.toMatchObject({ status: 401 })
      await receive(delivery)
      await receive(delivery)
      expect(await events()).toHaveLength(auth === 'hmac' ? 1 : 2)
      await system.settle()
      await system.close()
    }
  })
})
