/** Saved filters over HTTP: visible to their owner only, and never overwritten unseen. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp

beforeAll(async () => {
  app = await openApp({ name: 'shop' })
})
afterAll(() => app.close())

const as = (user: string, more: Readonly<Record<string, string>> = {}) => ({ 'x-trihand-user': user, ...more })
const FAILED = { name: 'Broken mails', screen: 'runs', terms: { status: 'failed', handler: 'mail' } }

const save = async (user: string, filter: object = FAILED): Promise<Answer> =>
  app.post('/api/filters', filter, as(user))

const put = (id: string, filter: object, headers: Readonly<Record<string, string>>): Promise<Answer> =>
  app.ask(`/api/filters/${id}`, {
    method: 'PUT',
    body: JSON.stringify(filter),
    headers: { 'content-type': 'application/json', ...headers },
  })

const namesOf = async (user: string): Promise<readonly string[]> => {
  const { body } = await app.ask('/api/filters', { headers: as(user) })
  return body.items.map(({ name }: { name: string }) => name)
}

test('a filter is saved, listed by name, changed and removed', async () => {
  const { status, headers, body } = await save('ana')
  expect([status, headers.get('etag')]).toEqual([201, '"1"'])
  expect(body).toMatchObject({ ...FAILED, version: 1 })
  await save('ana', { ...FAILED, name: 'All mails', terms: { handler: 'mail' } })
  expect(await namesOf('ana')).toEqual(['All mails', 'Broken mails'])
  const changed = await put(body.id, { ...FAILED, name: 'Failed mails' }, as('ana', { 'if-match': '"1"' }))
  expect([changed.status, changed.body.name, changed.headers.get('etag')]).toEqual([200, 'Failed mails', '"2"'])
  const removed = await app.ask(`/api/filters/${body.id}`, { method: 'DELETE', headers: as('ana') })
  expect([removed.status, await namesOf('ana')]).toEqual([204, ['All mails']])
})

test('filters-1: a filter cannot be seen, changed or removed by another person', async () => {
  const { body } = await save('ben')
  expect(await namesOf('eve')).toEqual([])
  for (const [method, init] of [
    ['GET', {}],
    ['PUT', { body: JSON.stringify(FAILED), headers: { 'content-type': 'application/json', 'if-match': '"1"' } }],
    ['DELETE', {}],
  ] as const) {
    const headers = { ...('headers' in init ? init.headers : {}), ...as('eve') }
    expect((await app.ask(`/api/filters/${body.id}`, { ...init, method, headers })).status).toBe(404)
  }
  expect(await namesOf('ben')).toEqual(['Broken mails'])
})

test('filters-2: a change must name the version it replaces, and of concurrent changes to one version only one succeeds', async () => {
  const { body } = await save('cleo')
  const without = await put(body.id, FAILED, as('cleo'))
  expect([without.status, without.body.code]).toEqual([428, 'PRECONDITION_REQUIRED'])
  const many = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      put(body.id, { ...FAILED, name: `mine ${n}` }, as('cleo', { 'if-match': '"1"' })),
    ),
  )
  const statuses = many.map(({ status }) => status).toSorted()
  expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 412)])
  const won = many.find(({ status }) => status === 200)
  expect(await namesOf('cleo')).toEqual([won?.body.name])
})

test.each([
  [{ screen: 'runs', terms: { status: 'failed' } }, 'name must be a text'],
  [{ ...FAILED, name: '' }, 'name must have 1 to 80'],
  [{ ...FAILED, screen: 'graph' }, 'screen is "graph"'],
  [{ ...FAILED, terms: [] }, 'terms must be an object'],
  [{ ...FAILED, terms: {} }, 'terms has 0 entries'],
  [{ ...FAILED, terms: { 'Not a term': 'x' } }, 'is not a term; expected'],
  [{ ...FAILED, terms: { status: 7 } }, 'terms.status must be a text'],
])('%j is not saved', async (given, detail) => {
  const { status, body } = await save('dan', given)
  expect([status, body.code]).toEqual([422, 'INPUT_INVALID'])
  expect(body.detail).toContain(detail)
})
