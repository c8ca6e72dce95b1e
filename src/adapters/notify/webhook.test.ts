/** Signed webhooks, sent to a real receiver that verifies them. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { guardedFetch } from '#adapters/tools/guarded-fetch.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { chatNotifier } from './chat.ts'
import { type WebhookEndpoint, webhookNotifier } from './webhook.ts'

const secretOf = (text: string): string => `whsec_${Buffer.from(text).toString('base64')}`
const [OLD, NEW] = [secretOf('the old secret, 24 bytes'), secretOf('the new secret, 24 bytes')] as const
const EVENT: StoredEvent = {
  id: 'task_1/0/human.assigned',
  tenant: LOCAL_TENANT,
  source: 'human:owner',
  type: 'human.assigned',
  subject: 'task_1',
  time: Date.UTC(2026, 2, 1, 9),
  data: { task_id: 'task_1', assignees: { users: ['ana'], groups: [] } },
  correlationId: 'c1',
  causationId: null,
  traceparent: null,
  hops: 0,
  chain: [],
  sequence: 1,
}

let got: { headers: IncomingHttpHeaders; body: string }[]
let status: number
let location: string | null
let port: number
let close: () => void

beforeEach(async () => {
  got = []
  status = 200
  location = null
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push({ headers: request.headers, body })
    response.writeHead(status, location === null ? {} : { location }).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
  close = () => server.close()
})
afterEach(() => close())

/** The receiver is the only external host here. */
const wayOut = () =>
  guardedFetch(
    { allowsHost: (host) => host === 'hooks.test', ports: [port], maxRedirects: 0 },
    { resolve: async () => ['127.0.0.1'], mayReach: () => true },
  )
const deliverNotice = (over: Partial<WebhookEndpoint> = {}, event: StoredEvent = EVENT) => {
  const url = `http://hooks.test:${port}/in`
  const notifier = webhookNotifier(
    { url, secrets: [OLD], publicUrl: 'https://trihand.example', ...over },
    wayOut(),
    Date.now,
  )
  return notifier.deliverNotice(event, new AbortController().signal)
}
const verified = (secret: string): unknown =>
  new Webhook(secret).verify(got[0]?.body ?? '', got[0]?.headers as Record<string, string>)

describe('a webhook', () => {
  test('is a signed CloudEvents event with the id of the event', async () => {
    expect(await deliverNotice()).toEqual({ kind: 'delivered', detail: '200' })
    expect(verified(OLD)).toMatchObject({
      specversion: '1.0',
      id: EVENT.id,
      type: 'human.assigned',
      subject: 'task_1',
      time: '2026-03-01T09:00:00.000Z',
      data: EVENT.data,
    })
    expect(got[0]?.headers).toMatchObject({ 'webhook-id': EVENT.id, 'content-type': 'application/cloudevents+json' })
  })

  test('notifier-2: has the same id at every try', async () => {
    await deliverNotice()
    await deliverNotice()
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  test('is signed with every secret during a rotation', async () => {
    await deliverNotice({ secrets: [NEW, OLD] })
    expect(() => verified(OLD)).not.toThrow()
    expect(() => verified(NEW)).not.toThrow()
    expect(() => verified(secretOf('some other one, 24 bytes'))).toThrow()
  })

  test('fails verification if one bit was changed', async () => {
    await deliverNotice()
    const { headers = {}, body = '' } = got[0] ?? {}
    const signed = headers as Record<string, string>
    const isBelieved = (text: string | Buffer, over: Record<string, string> = {}): boolean => {
      try {
        new Webhook(OLD).verify(text, { ...signed, ...over })
        return true
      } catch {
        return false
      }
    }
    expect(isBelieved(body)).toBe(true)
    for (let bit = 0; bit < 8 * body.length; bit += 7) {
      const bytes = Buffer.from(body)
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect([bit, isBelieved(bytes)]).toEqual([bit, false])
    }
    expect(isBelieved(body, { 'webhook-id': `${EVENT.id}x` })).toBe(false)
    const stamp = String(Number(signed['webhook-timestamp']) + 1)
    expect(isBelieved(body, { 'webhook-timestamp': stamp })).toBe(false)
  })

  test('with large data has a link to it instead', async () => {
    await deliverNotice({}, { ...EVENT, data: { text: 'x'.repeat(30_000) } })
    expect(got[0]?.body.length).toBeLessThan(20_000)
    expect(verified(OLD)).toMatchObject({
      data_url: 'https://trihand.example/api/events/1',
    })
    expect(verified(OLD)).not.toHaveProperty('data')
  })
})

describe('notifier-1: the answer of the receiver', () => {
  test.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [400, 'failed'],
    [404, 'failed'],
    [410, 'unwanted'],
    [429, 'failed'],
    [503, 'failed'],
  ])('of %i means %s', async (answer, kind) => {
    status = answer
    expect(await deliverNotice()).toEqual({ kind, detail: `${answer}` })
    expect(got).toHaveLength(1)
  })

  test('that redirects is a failure', async () => {
    status = 307
    location = '/there'
    expect(await deliverNotice()).toMatchObject({ kind: 'failed', detail: expect.stringContaining('redirects') })
    expect(got).toHaveLength(1)
  })

  test('that never comes is a failure', async () => {
    close()
    expect(await deliverNotice({ url: `http://hooks.test:${port}/` })).toMatchObject({ kind: 'failed' })
  })

  test('is not requested from an internal address', async () => {
    expect(await deliverNotice({ url: 'http://169.254.169.254/latest' })).toMatchObject({ kind: 'failed' })
    expect(got).toEqual([])
  })
})

test('an invalid secret is refused before anything is sent', () => {
  const open = () =>
    webhookNotifier(
      { url: 'https://a.example', secrets: ['%%%'], publicUrl: null },
      async () => Promise.reject(),
      Date.now,
    )
  expect(open).toThrow(/CONFIG_INVALID/)
})

test('[C15] a chat gets one message with a link that opens a page', async () => {
  const notifier = chatNotifier(
    { url: `http://hooks.test:${port}/chat`, publicUrl: 'https://trihand.example' },
    wayOut(),
  )
  expect(await notifier.deliverNotice(EVENT, new AbortController().signal)).toEqual({
    kind: 'delivered',
    detail: '200',
  })
  const { text } = JSON.parse(got[0]?.body ?? '')
  expect(text).toContain('A task for you')
  expect(text).toContain('https://trihand.example/inbox?task=task_1')
})
