/** ETags, If-None-Match and If-Match; suggestions for misspelt parameters. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp
beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { go: null, later: null },
    functions: [
      fn('wait', { trigger: 'go' }, async ({ step }) => step.waitForEvent('later', { event: 'later' })),
      fn('call', {}, async ({ step }) => step.invoke('child', 'wait', {})),
    ],
  })
})
afterAll(() => app.close())

test('an unchanged run is answered with 304, a changed one is sent again', async () => {
  const id = await app.started('go')
  await app.when(id, 'waiting')
  const { headers, body } = await app.ask(`/api/runs/${id}`)
  const tag = headers.get('etag') ?? ''
  expect(tag).toBe(`"${body.version}"`)
  for (const known of [tag, `W/${tag}`, `"0", ${tag}`, '*']) {
    const same = await app.ask(`/api/runs/${id}`, { headers: { 'if-none-match': known } })
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', tag])
  }
  await app.post('/api/events', { type: 'later' })
  await app.when(id, 'success')
  const changed = await app.ask(`/api/runs/${id}`, { headers: { 'if-none-match': tag } })
  expect([changed.status, changed.body.status]).toEqual([200, 'success'])
})

test('a tag covers the children that are shown, too', async () => {
  const { body } = await app.post('/api/runs', { name: 'call' })
  const parent = await app.when(body.id, 'waiting')
  const [child] = parent.children
  const { headers } = await app.ask(`/api/runs/${body.id}`)
  expect(headers.get('etag')).toMatch(new RegExp(`^"${parent.version}-\\d+-0"$`))
  expect(child.id).toMatch(/^run_/)
})

test('a command for another version is refused, one for this version is accepted', async () => {
  const id = await app.started('go')
  const { version } = await app.when(id, 'waiting')
  const late = await app.post(`/api/runs/${id}/cancel`, {}, { 'if-match': `"${version - 1}"` })
  expect([late.status, late.body.code]).toEqual([412, 'PRECONDITION_FAILED'])
  expect(late.body.detail).toContain(`version ${version}`)
  const meant = await app.post(`/api/runs/${id}/cancel`, {}, { 'if-match': `"${version}-7-0"` })
  expect(meant.status).toBe(202)
})

test.each([
  ['/api/runs?statsu=failed', 'did you mean status?'],
  ['/api/events?curser=1', 'did you mean cursor?'],
  ['/api/events?whatever=1', 'expected type, limit, cursor'],
])('%s is refused with a suggestion: %s', async (path, words) => {
  expect((await app.ask(path)).body.detail).toContain(words)
})
