/** One event with its causes and effects, over the real application. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.paid': null, 'order.packed': null, 'order.sent': null },
    functions: [
      fn('pack', { trigger: 'order.paid' }, async ({ step }) => {
        await step.run('weigh', async () => 3)
        await step.emit('packed', { type: 'order.packed', data: { kilos: 3 } })
      }),
      fn('send', { trigger: 'order.packed' }, async ({ emit }) => emit('order.sent', {})),
      fn('praise', { trigger: { event: 'order.paid', filter: 'payload.total > 1000' } }, async () => null),
    ],
  })
  await app.post('/api/events', { type: 'order.paid', id: 'o/1', source: 'till', data: { total: 5 } })
  await until(
    () => app.ask('/api/events?type=order.sent'),
    ({ body }) => body.items.length === 1,
    { what: 'the order is sent' },
  )
})
afterAll(() => app.close())

const only = async (type: string): Promise<Answer['body']> => (await app.ask(`/api/events?type=${type}`)).body.items[0]
const detail = (id: string | number): Promise<Answer> => app.ask(`/api/events/${id}`)

describe('[A7] an event', () => {
  test('shows the runs that it started, and the events that they sent', async () => {
    const { body } = await detail(encodeURIComponent('o/1'))
    expect(body).toMatchObject({
      event: { id: 'o/1', type: 'order.paid' },
      causes: [],
      runs: [{ handler: 'pack' }],
      events: [{ type: 'order.packed', data: { kilos: 3 } }],
      suppressed: [{ trigger: 'praise', reason: 'filter' }],
    })
  })

  test('shows its causes, back to the first event', async () => {
    const { sequence } = await only('order.sent')
    const { body } = await detail(sequence)
    expect(body.causes.map(({ kind, name }: Answer['body']) => [kind, name])).toEqual([
      ['run', 'send'],
      ['event', 'order.packed'],
      ['run', 'pack'],
      ['event', 'order.paid'],
    ])
    expect(body.causes.at(-1)).toMatchObject({ id: 'o/1', sequence: (await only('order.paid')).sequence })
  })

  test('with an id that several sources have used is found by its source', async () => {
    for (const source of ['a', 'b']) await app.post('/api/events', { type: 'order.sent', id: 'twin', source })
    expect((await detail('twin')).body).toMatchObject({ code: 'ID_AMBIGUOUS' })
    expect((await detail('twin?source=b')).body).toMatchObject({ event: { id: 'twin', source: 'b' } })
  })

  test.each(['999999', 'nobody', '0', '-1', '%00', '9'.repeat(40)])('with the id %s is not found', async (id) => {
    expect((await detail(id)).status).toBe(404)
  })
})
