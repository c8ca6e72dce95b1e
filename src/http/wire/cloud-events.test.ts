/** CloudEvents against the official SDK: all three modes, and everything that is refused. */
import { CloudEvent, HTTP } from 'cloudevents'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null },
    functions: [fn('ship', { trigger: 'order.placed' }, () => 'shipped')],
  })
})
afterAll(() => app.close())

const SUBJECT = 'Zoë "q" %'
const anEvent = (id: string, more: object = {}) =>
  new CloudEvent({ id, source: '/till', type: 'order.placed', subject: SUBJECT, data: { n: 1 }, ...more })

const post = (body: unknown, headers: Readonly<Record<string, unknown>>) =>
  app.ask('/api/events', { method: 'POST', body: body as string, headers: headers as Record<string, string> })

/** Encodes headers as a sender must: the SDK does not encode characters beyond ASCII. */
const encoded = (headers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name.startsWith('ce-') ? encodeURIComponent(String(value)) : String(value),
    ]),
  )

const stored = async (id: string) => {
  const { body } = await app.ask('/api/events?type=order.placed&limit=200')
  return body.items.find((event: { id: string }) => event.id === id)
}

const STRUCTURED = { 'content-type': 'application/cloudevents+json' }
const BATCH = { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' }

describe('events from the SDK', () => {
  test('are accepted in structured mode', async () => {
    const { headers, body } = HTTP.structured(anEvent('s1', { time: '2026-01-31T08:00:00.000Z' }))
    const answer = await post(body, headers)
    expect([answer.status, answer.body.id, answer.body.runs.length]).toEqual([202, 's1', 1])
    expect(await stored('s1')).toMatchObject({ source: '/till', subject: SUBJECT, data: { n: 1 } })
  })

  test('are accepted in binary mode, with percent-encoded headers', async () => {
    const { headers, body } = HTTP.binary(anEvent('b1'))
    const answer = await post(body, encoded(headers))
    expect(answer.status).toBe(202)
    expect(await stored('b1')).toMatchObject({ source: '/till', subject: SUBJECT, data: { n: 1 } })
  })

  test('are the same event in both modes: the second is a duplicate', async () => {
    const event = anEvent('both')
    const first = HTTP.structured(event)
    const second = HTTP.binary(event)
    expect((await post(first.body, first.headers)).status).toBe(202)
    const again = await post(second.body, encoded(second.headers))
    expect([again.status, again.body.duplicate]).toEqual([200, true])
  })

  test('are accepted in a batch, each with its own result', async () => {
    const events = [anEvent('t1'), anEvent('t1'), anEvent('t2', { type: 'order.plaecd' })]
    const { status, body } = await post(JSON.stringify(events), BATCH)
    expect(status).toBe(207)
    expect(body.items.map((item: { status: number }) => item.status).toSorted()).toEqual([200, 202, 422])
    expect(body.items[2].problem.code).toBe('EVENT_UNKNOWN')
  })
})

test('data that is not JSON is stored with its type, as text or as base64', async () => {
  const headers = { 'ce-specversion': '1.0', 'ce-source': '/till', 'ce-type': 'order.placed' }
  await post('a,b\n', { ...headers, 'ce-id': 'csv', 'content-type': 'text/csv' })
  expect((await stored('csv')).data).toEqual({ content_type: 'text/csv', text: 'a,b\n' })
  const png = new Uint8Array([0x89, 0x50, 0xff])
  await post(png, { ...headers, 'ce-id': 'png', 'content-type': 'image/png' })
  expect((await stored('png')).data).toEqual({ content_type: 'image/png', base64: 'iVD/' })
})

test('a byte order mark is kept as a part of its text (14.6)', async () => {
  const headers = { 'ce-specversion': '1.0', 'ce-source': '/till', 'ce-type': 'order.placed' }
  const csv = new Uint8Array([0xef, 0xbb, 0xbf, 0x61])
  await post(csv, { ...headers, 'ce-id': 'bom', 'content-type': 'text/csv' })
  expect((await stored('bom')).data).toEqual({ content_type: 'text/csv', text: '\ufeffa' })
})

test('base64 data is stored decoded', async () => {
  const event = { specversion: '1.0', id: 'b64', source: '/till', type: 'order.placed' }
  await post(JSON.stringify({ ...event, data_base64: 'eyJuIjoyfQ==' }), STRUCTURED)
  expect((await stored('b64')).data).toEqual({ n: 2 })
})

const whole = { specversion: '1.0', id: 'x', source: '/till', type: 'order.placed' }
test.each([
  ['another version', { ...whole, specversion: '0.3' }, 422, 'EVENT_INVALID', 'specversion'],
  ['no id', { ...whole, id: undefined }, 422, 'EVENT_INVALID', 'id'],
  ['an attribute with a bad name', { ...whole, Bad_Name: 1 }, 422, 'EVENT_INVALID', 'Bad_Name'],
  ['a time without offset', { ...whole, time: 'noon' }, 422, 'EVENT_INVALID', 'time'],
  ['data twice', { ...whole, data: 1, data_base64: 'AA==' }, 422, 'EVENT_INVALID', 'exclude'],
  ['base64 that is none', { ...whole, data_base64: '?' }, 422, 'EVENT_INVALID', 'base64'],
  ['base64 that is cut off', { ...whole, data_base64: 'eyJuIjoyf' }, 422, 'EVENT_INVALID', 'base64'],
  ['base64 with bits to spare', { ...whole, data_base64: 'eyJuIjoyfR==' }, 422, 'EVENT_INVALID', 'base64'],
  ['no object', [], 422, 'EVENT_INVALID', 'object'],
])('an event with %s is refused', async (_, event, status, code, words) => {
  const answer = await post(JSON.stringify(event), STRUCTURED)
  expect([answer.status, answer.body.code]).toEqual([status, code])
  expect(answer.body.detail).toContain(words)
})

test('a batch that is not a list or is too long, and a header that is not encoded, are refused', async () => {
  expect((await post('{}', BATCH)).body.code).toBe('EVENT_INVALID')
  expect((await post(JSON.stringify(Array(1_001).fill(whole)), BATCH)).body.code).toBe('PAYLOAD_TOO_LARGE')
  const bad = { 'ce-specversion': '1.0', 'ce-id': '%zz', 'content-type': 'application/json' }
  expect((await post('{}', bad)).body.code).toBe('EVENT_INVALID')
})
