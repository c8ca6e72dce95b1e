/** Events over HTTP: what is accepted, what is refused, what the receipt says. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': z.object({ id: z.string() }), 'order.paid': null },
    functions: [
      fn('ship', { trigger: 'order.placed' }, () => 'shipped'),
      fn('remind', {}, ({ emit }) => emit('order.paid', { amount: 11 }, { delay: '1h', subject: 'a box' })),
      fn('thank', { trigger: { event: 'order.paid', filter: 'payload.amount > 10' } }, () => 'thanked'),
    ],
  })
})
afterAll(() => app.close())

describe('sending', () => {
  test('[L2] a receipt names the event, its sequence and the runs it started', async () => {
    const { status, body } = await app.post('/api/events', { type: 'order.placed', data: { id: 'a' } })
    expect(status).toBe(202)
    expect(body).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      sequence: expect.any(Number),
      runs: [expect.stringMatching(/^run_[0-9a-f]{32}$/)],
      pending: [],
      duplicate: false,
      suppressed: [],
    })
  })

  test('[R2] a repeat gets the first receipt and 200', async () => {
    const event = { type: 'order.placed', data: { id: 'b' }, id: 'order-b', source: 'till' }
    const first = await app.post('/api/events', event)
    const again = await app.post('/api/events', event)
    expect([first.status, again.status]).toEqual([202, 200])
    expect(again.body).toEqual({ ...first.body, duplicate: true })
  })

  test('[R2] the same id with other data is refused', async () => {
    await app.post('/api/events', { type: 'order.placed', data: { id: 'c' }, id: 'order-c' })
    const { status, body } = await app.post('/api/events', { type: 'order.placed', data: { id: 'd' }, id: 'order-c' })
    expect([status, body.code]).toEqual([409, 'EVENT_ID_REUSED'])
  })

  test('a receipt says why a function that listens was not started', async () => {
    const { body } = await app.post('/api/events', { type: 'order.paid', data: { amount: 3 } })
    expect(body.runs).toEqual([])
    expect(body.suppressed).toEqual([expect.objectContaining({ trigger: 'thank', reason: 'filter' })])
  })

  test('an unknown event is refused with the nearest name', async () => {
    const { status, body } = await app.post('/api/events', { type: 'order.place', data: {} })
    expect([status, body.code]).toEqual([422, 'EVENT_UNKNOWN'])
    expect(body.detail).toContain('did you mean order.placed?')
  })

  test('data that does not match its schema is refused with the place', async () => {
    const { status, body } = await app.post('/api/events', { type: 'order.placed', data: { id: 7 } })
    expect([status, body.code]).toEqual([422, 'EVENT_INVALID'])
    expect(body.detail).toContain('/id')
  })

  test.each([
    [{ data: {} }, 'type'],
    [{ type: 7 }, 'type'],
    [{ type: 'order.paid', time: 'yesterday' }, 'time'],
    [{ type: 'order.paid', time: '2026-01-31T09:00:00' }, 'time'],
    [{ type: 'order.paid', subject: 5 }, 'subject'],
    [{ type: 'order.paid', id: '' }, 'id'],
    [{ type: 'order.paid', payload: {} }, 'payload'],
    [[{ type: 'order.paid' }], 'object'],
    [null, 'object'],
  ])('%j is refused, and the detail names %s', async (event, name) => {
    const { status, body } = await app.post('/api/events', event)
    expect([status, body.code]).toEqual([422, 'EVENT_INVALID'])
    expect(body.detail).toContain(name)
  })
})

describe('listing', () => {
  test('time, source and subject come back as they were given', async () => {
    const event = {
      type: 'order.paid',
      data: { amount: 1 },
      source: 'till',
      subject: 'Zoë',
      time: '2026-01-31T10:00:00.5+01:00',
    }
    await app.post('/api/events', event)
    const { body } = await app.ask('/api/events?type=order.paid&limit=1')
    expect(body.items[0]).toMatchObject({
      source: 'till',
      subject: 'Zoë',
      time: '2026-01-31T09:00:00.500Z',
      data: { amount: 1 },
    })
  })

  test('pages follow each other without gap or repeat, newest first, while new events come in', async () => {
    for (let i = 0; i < 5; i++) await app.post('/api/events', { type: 'order.paid', data: { amount: i } })
    const all = (await app.ask('/api/events?limit=200')).body.items.map((event: { sequence: number }) => event.sequence)
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await app.ask(`/api/events?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...body.items.map((event: { sequence: number }) => event.sequence))
      cursor = body.next_cursor
      await app.post('/api/events', { type: 'order.paid', data: { amount: 99 } })
    }
    expect(seen).toEqual(all)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
  })
})

describe('a delayed event', () => {
  const delayed = async (): Promise<readonly { readonly id: string }[]> =>
    (await app.ask('/api/events/delayed')).body.items

  const remind = async (): Promise<string> => {
    const { body } = await app.post('/api/runs', { name: 'remind' })
    await app.when(body.id, 'success')
    return (await delayed())[0]?.id ?? ''
  }

  test('[A6] is listed with its data and due time, and can be cancelled once', async () => {
    const id = await remind()
    const [event] = await delayed()
    expect(event).toMatchObject({ type: 'order.paid', subject: 'a box', data: { amount: 11 } })
    expect(event).toMatchObject({ due_at: expect.stringMatching(/^\d{4}-.*Z$/) })
    const taken = await app.ask(`/api/events/${id}`, { method: 'DELETE' })
    expect([taken.status, taken.body]).toEqual([200, event])
    expect(await delayed()).toEqual([])
    const again = await app.ask(`/api/events/${id}`, { method: 'DELETE' })
    expect([again.status, again.body.code]).toEqual([409, 'RUN_ENDED'])
  })

  test('is listed in pages', async () => {
    const ids = [await remind(), await remind()]
    const { body: first } = await app.ask('/api/events/delayed?limit=1')
    const { body: second } = await app.ask(`/api/events/delayed?limit=1&cursor=${first.next_cursor}`)
    expect([first.items[0].id, second.items[0].id, second.next_cursor]).toEqual([...ids.reverse(), null])
    expect((await app.ask('/api/events/delayed?cursor=x')).body.code).toBe('CURSOR_INVALID')
  })

  test('is the only kind of event that can be cancelled', async () => {
    const { body } = await app.post('/api/events', { type: 'order.placed', data: { id: 'z' } })
    for (const id of [body.id, body.runs[0], 'nonsense']) {
      const { status, body: problem } = await app.ask(`/api/events/${id}`, { method: 'DELETE' })
      expect([status, problem.detail]).toEqual([
        404,
        expect.stringContaining('an event that was sent cannot be cancelled'),
      ])
    }
  })
})
