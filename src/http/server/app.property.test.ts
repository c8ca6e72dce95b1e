/** Any request, however malformed, gets a response that the API documents. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const RUNS = 400

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null },
    functions: [fn('ship', { trigger: { event: 'order.placed', filter: 'payload.n > 1' } }, () => 'shipped')],
  })
  await app.started('order.placed', { n: 2 })
})
afterAll(() => app.close())

const segment = fc.constantFrom(
  'api',
  'runs',
  'events',
  'counts',
  'facts',
  'cancel',
  'retry',
  'resolve',
  'health',
  'live',
  'ready',
)
const anyText = fc.string({ unit: 'grapheme', maxLength: 12 }).map(encodeURIComponent)
const path = fc.array(fc.oneof({ weight: 4, arbitrary: segment }, fc.stringMatching(/^[0-9a-f]{6,10}$/), anyText), {
  maxLength: 4,
})
const parameter = fc.constantFrom('limit', 'cursor', 'status', 'handler', 'type')
const query = fc.array(fc.tuple(fc.oneof(parameter, anyText), anyText), { maxLength: 2 })
const member = fc.constantFrom(
  'type',
  'data',
  'id',
  'source',
  'subject',
  'time',
  'name',
  'input',
  'step',
  'verdict',
  'result',
  'reason',
)
const value = fc.oneof(
  fc.constantFrom('order.placed', 'ship', 'happened', 'abort'),
  fc.json().map((text) => JSON.parse(text)),
)
const body = fc.oneof(
  fc.dictionary(member, value).map((members) => JSON.stringify(members)),
  fc.json(),
  fc.string(),
)
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
  path,
  query,
  body,
  type: fc.oneof({ weight: 5, arbitrary: fc.constant('application/json') }, fc.constant('text/plain')),
})

const ANSWERS = new Set([200, 201, 202, 400, 404, 405, 409, 413, 415, 422])

test('app-1: any request gets a known status, and a problem document unless it succeeded', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, body, type }) => {
      const text = query.map(([name, given]) => `${name}=${given}`).join('&')
      const hasBody = method !== 'GET' && method !== 'HEAD'
      const init = { method, headers: { 'content-type': type }, ...(hasBody ? { body } : {}) }
      const answer = await app.ask(`/${path.join('/')}${text === '' ? '' : `?${text}`}`, init)
      expect(ANSWERS).toContain(answer.status)
      if (answer.status >= 400 && method !== 'HEAD') {
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        expect(answer.body).toMatchObject({
          status: answer.status,
          code: expect.stringMatching(/^[A-Z_]+$/),
          hint: expect.any(String),
        })
      }
    }),
    { numRuns: RUNS },
  )
  expect(app.reported).toEqual([])
})
