/** Keys and batches over HTTP on each store: bytes are preserved, a key is bound to the whole request, a batch keeps its order. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { fastFolder } from '#test/support/places.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { type MortalRequests, withRequests } from '#test/support/stores/mortal-requests.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'

const SYSTEM: SystemSource = {
  name: 'shop',
  open: true,
  functions: [fn('ship', { trigger: 'order.placed' }, () => 'shipped')],
}

/** The beginning and the end of a JPEG, and every byte between. */
const JPEG = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, ...Array.from({ length: 256 }, (_, n) => n), 0xff, 0xd9])
const BATCH = { 'content-type': 'application/cloudevents-batch+json' }

interface Place {
  readonly database: string
  remove(): Promise<void> | void
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  memory: async () => ({ database: 'memory:', remove: () => {} }),
  sqlite: async () => {
    const folder = fastFolder('keys')
    return { database: join(folder.path, 'ledger.db'), remove: () => folder.remove() }
  },
  postgres: async () => {
    const { url, drop } = await freshSchema(process.env['TRIHAND_TEST_PG_URL'] ?? '')
    return { database: url, remove: drop }
  },
}

const isMissing = (store: string): boolean => store === 'postgres' && process.env['TRIHAND_TEST_PG_URL'] === undefined

describe.each(Object.keys(places).filter((store) => !isMissing(store)))('keys and batches on %s', (store) => {
  let place: Place
  let app: HttpApp
  let requests: MortalRequests
  beforeAll(async () => {
    place = (await places[store]?.()) as Place
  })
  afterAll(() => place.remove())
  beforeEach(async () => {
    const use = withRequests((mortal) => (requests = mortal), { isShared: false })
    app = await openApp(SYSTEM, use, { database: place.database })
  })
  afterEach(() => app.close())

  const attributes = (id: string, more: Readonly<Record<string, string>> = {}) => ({
    ...{ 'ce-specversion': '1.0', 'ce-type': 'photo.taken', 'ce-source': '/camera', 'ce-id': id },
    'content-type': 'image/jpeg',
    ...more,
  })
  const sendPhoto = (bytes: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>): Promise<Answer> =>
    app.ask('/api/events', { method: 'POST', body: bytes, headers })
  const dataOf = async (id: string) => (await app.ask(`/api/events/${id}?source=/camera`)).body.event.data

  test('[L2] keyed-1: a JPEG that is sent under a key arrives bit by bit (14.6)', async () => {
    const sent = await sendPhoto(JPEG, attributes('p1', { 'idempotency-key': 'photo' }))
    expect(sent.status).toBe(202)
    const { content_type, base64 } = await dataOf('p1')
    expect([content_type, Buffer.from(base64, 'base64')]).toEqual(['image/jpeg', Buffer.from(JPEG)])
    const event = {
      specversion: '1.0',
      type: 'photo.taken',
      source: '/camera',
      id: 'p2',
      datacontenttype: 'image/jpeg',
    }
    const encoded = JSON.stringify({ ...event, data_base64: Buffer.from(JPEG).toString('base64') })
    await app.post('/api/events', encoded, { 'content-type': 'application/cloudevents+json', 'idempotency-key': 'j' })
    expect((await dataOf('p2')).base64).toBe(base64)
  })

  test('[L2] keyed-1: another event under the same key is refused, whether headers or any byte differ (14.6)', async () => {
    const key = { 'idempotency-key': 'bound' }
    expect((await sendPhoto(JPEG, attributes('b1', key))).status).toBe(202)
    const others = [
      await sendPhoto(JPEG, attributes('b2', key)),
      await sendPhoto(JPEG, attributes('b1', { ...key, 'ce-subject': 'cat' })),
      await sendPhoto(JPEG, attributes('b1', { ...key, 'content-type': 'image/png' })),
      // Neither byte is valid UTF-8: read as text they would be equal.
      await sendPhoto(
        JPEG.map((byte, at) => (at === 0 ? 0xfe : byte)),
        attributes('b1', key),
      ),
    ]
    expect(others.map(({ body }) => body.code)).toEqual(Array.from(others, () => 'IDEMPOTENCY_MISMATCH'))
    expect((await sendPhoto(JPEG, attributes('b1', key))).headers.get('idempotency-replayed')).toBe('true')
  })

  const anEvent = (source: string, n: number) => ({
    ...{ specversion: '1.0', type: 'note.made', source, id: `n${n}` },
    data: { n },
  })
  const sequencesOf = ({ body }: Answer): readonly number[] =>
    body.items.map(({ receipt }: { receipt?: { sequence: number } }) => receipt?.sequence ?? -1)
  const isRising = (numbers: readonly number[]): boolean =>
    numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))

  test('[L2] in-order-1: a batch of 1,000 events is stored in its order (14.6)', async () => {
    const batch = Array.from({ length: 1_000 }, (_, n) => anEvent('/order', 999 - n))
    const answer = await app.post('/api/events', batch, BATCH)
    expect([answer.status, isRising(sequencesOf(answer))]).toEqual([207, true])
    const repeated = await app.post('/api/events', batch, BATCH)
    expect(sequencesOf(repeated)).toEqual(sequencesOf(answer))
    expect(repeated.body.items.every(({ status }: { status: number }) => status === 200)).toBe(true)
    expect((await app.post('/api/events', [...batch, anEvent('/order', 1_000)], BATCH)).body.code).toBe(
      'PAYLOAD_TOO_LARGE',
    )
  })

  test('[L2] in-order-2: repeated, known and refused events keep their places in the answer (14.6)', async () => {
    const known = Array.from({ length: 10 }, (_, n) => anEvent('/mixed', n * 17))
    const before = sequencesOf(await app.post('/api/events', known, BATCH))
    const fresh = Array.from({ length: 200 }, (_, n) => anEvent('/mixed', n))
    const bad = { ...anEvent('/mixed', 500), type: 'trihand.own' }
    const other = { ...anEvent('/mixed', 3), data: { n: 'other' } }
    const batch = [...fresh.slice(0, 150), fresh[3], bad, other, ...fresh.slice(150)]
    const answer = await app.post('/api/events', batch, BATCH)
    const items = answer.body.items as readonly { status: number; problem?: { code: string } }[]
    expect([items[150]?.status, items[151]?.problem?.code, items[152]?.problem?.code]).toEqual([
      ...[200, 'EVENT_RESERVED', 'EVENT_ID_REUSED'],
    ])
    const all = sequencesOf(answer)
    const places = [...all.slice(0, 150), ...all.slice(153)]
    expect(places.filter((_, n) => n % 17 === 0 && n < 160)).toEqual(before)
    expect(isRising(places.filter((_, n) => !(n % 17 === 0 && n < 160)))).toBe(true)
    expect(all[150]).toBe(all[3])
  })

  test('[L2] in-order-1: the repeat of a keyed batch that a crash interrupted is answered with what was stored (14.6)', async () => {
    const key = { ...BATCH, 'idempotency-key': 'cut' }
    const batch = Array.from({ length: 130 }, (_, n) => ({ ...anEvent('/cut', n), type: 'order.placed' }))
    requests.isDying = true
    const first = await app.post('/api/events', batch, key)
    const second = await app.post('/api/events', batch, key)
    expect(sequencesOf(second)).toEqual(sequencesOf(first))
    expect((await app.ask('/api/runs?handler=ship&limit=200')).body.items).toHaveLength(130)
    expect((await app.post('/api/events', batch, key)).headers.get('idempotency-replayed')).toBe('true')
  })

  test('[L2] requests-3: after a restart an unanswered key is answered with the run that it started (14.6)', async () => {
    requests.isDying = true
    const ask = () => app.post('/api/runs', { name: 'ship' }, { 'idempotency-key': 'restart' })
    const first = await ask()
    if (store !== 'memory') {
      await app.close()
      app = await openApp(
        SYSTEM,
        withRequests(() => {}, { isShared: false }),
        { database: place.database },
      )
    }
    expect((await ask()).body).toEqual(first.body)
  })
})
