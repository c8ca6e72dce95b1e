/** Documents about the system for programs: /asyncapi.json against the AsyncAPI meta-schema, and /llms.txt. */
import specifications from '@asyncapi/specs'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const SPECIFICATION = specifications.schemas['3.0.0'] as object

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': z.object({ id: z.string() }), 'order.shipped': null, idle: null },
    functions: [fn('ship', { trigger: 'order.placed', emits: ['order.shipped'] }, () => 'shipped')],
  })
})
afterAll(() => app.close())

test('every event is a channel with its schema, and with operations for its receivers and senders', async () => {
  const { status, body } = await app.ask('/asyncapi.json')
  expect(status).toBe(200)
  expect(Object.keys(body.channels).toSorted()).toEqual(['idle', 'order.placed', 'order.shipped'])
  expect(body.channels['order.placed'].messages.event.payload).toMatchObject({
    type: 'object',
    properties: { id: { type: 'string' } },
  })
  expect(body.operations).toEqual({
    'receive-order.placed': { action: 'receive', channel: { $ref: '#/channels/order.placed' } },
    'send-order.shipped': { action: 'send', channel: { $ref: '#/channels/order.shipped' } },
  })
})

test('the document is valid AsyncAPI 3.0, and the check finds an invalid one', async () => {
  const check = new Ajv({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    logger: false,
  }).compile(SPECIFICATION)
  const { body } = await app.ask('/asyncapi.json')
  expect(check(body), JSON.stringify(check.errors?.slice(0, 5))).toBe(true)
  expect(check({ ...body, channels: { x: { address: 7 } } })).toBe(false)
})

test('/llms.txt names the system, the documents and the operations', async () => {
  const { text, headers } = await app.ask('/llms.txt')
  expect(headers.get('content-type')).toMatch(/^text\/plain/)
  expect(text).toMatch(/^# shop\n/)
  expect(text).toContain('- POST /api/events (sendEvent): ')
})
