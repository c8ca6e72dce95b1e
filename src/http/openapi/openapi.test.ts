/** /openapi.json is complete, well-formed and true. The check of each answer against it is in test/support/described.ts. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPONENTS } from '#http/documents/components.ts'
import { type Description, json } from '#http/routes/route.ts'
import { Described } from '#test/support/described.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { openApi } from './openapi.ts'
import { text } from './schema.ts'

let app: HttpApp
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
let document: any
beforeAll(async () => {
  app = await openApp({ name: 'shop' })
  document = (await app.ask('/openapi.json')).body
})
afterAll(() => app.close())

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
const described = (): readonly { path: string; method: string; operation: any }[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in (item as object)).map((method) => ({
      path,
      method,
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
      operation: (item as any)[method],
    })),
  )

describe('the document', () => {
  test('lists every route that is mounted, and no other', () => {
    const pathOf = (path: string): string => path.replaceAll(/:(\w+)(\{\.\+\})?/g, '{$1}')
    const mounted = app.routes.filter(({ method, path }) => method !== 'ALL' && path !== '/*')
    const told = described().map(({ path, method }) => `${method.toUpperCase()} ${path}`)
    expect(told.toSorted()).toEqual(mounted.map(({ method, path }) => `${method} ${pathOf(path)}`).toSorted())
    expect(told.length).toBeGreaterThan(30)
  })

  test('gives each operation a unique id, a summary and a role', () => {
    const ids = described().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operation } of described()) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary).toMatch(/^[A-Z].{5,}/)
      expect(operation['x-trihand-access']).toMatch(/^(public|viewer|decider|operator|admin)$/)
    }
  })

  test('requires no more than a viewer for reads, and more for writes', () => {
    // Only the person who saved a filter can see it.
    const own = ['createFilter', 'replaceFilter', 'removeFilter']
    const harmless = new Set(['receiveWebhook', 'rehearseEvent', 'validateManifest', 'logIn', 'logOut', ...own])
    // These are about the server and its credentials, not about the work.
    for (const id of ['listTokens', 'getConfiguration']) harmless.add(id)
    for (const { method, operation } of described().filter(
      ({ operation: { operationId } }) => !harmless.has(operationId),
    )) {
      const roles = method === 'get' ? ['public', 'viewer'] : ['decider', 'operator', 'admin']
      expect(roles, operation.operationId).toContain(operation['x-trihand-access'])
    }
  })

  test('describes each parameter of a path, and at least one successful answer', () => {
    for (const { path, operation } of described()) {
      const inPath = (operation.parameters ?? []).filter((parameter: { in: string }) => parameter.in === 'path')
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      expect(inPath.map(({ name }: { name: string }) => name)).toEqual(names)
      expect(Object.keys(operation.responses).some((status) => /^[23]/.test(status))).toBe(true)
      for (const response of Object.values(operation.responses)) expect(response).toHaveProperty('description')
    }
  })

  test('contains only valid JSON Schema 2020-12, and every reference resolves', () => {
    const ajv = new Ajv2020({ strict: false })
    const visit = (node: unknown): void => {
      if (node === null || typeof node !== 'object') return
      for (const [key, value] of Object.entries(node)) {
        if (key === 'schema') expect(ajv.validateSchema(value)).toBe(true)
        if (key === '$ref')
          expect(Object.keys(COMPONENTS).map((name) => `#/components/schemas/${name}`)).toContain(value)
        visit(value)
      }
    }
    for (const schema of Object.values(document.components.schemas))
      expect(ajv.validateSchema(schema as object)).toBe(true)
    visit(document)
  })

  test('uses every component in some route', () => {
    const used = JSON.stringify(document)
    const idle = Object.keys(COMPONENTS).filter((name) => !used.includes(`"#/components/schemas/${name}"`))
    expect(idle).toEqual(['Notice'])
  })

  test('is OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info).toEqual(expect.objectContaining({ title: 'Trihand', version: '0.0.0' }))
    expect(Object.keys(document).toSorted()).toEqual(
      ['components', 'info', 'jsonSchemaDialect', 'openapi', 'paths', 'servers'].toSorted(),
    )
  })
})

describe('an answer that the document does not describe', () => {
  const description: Description = {
    id: 'getThing',
    method: 'get',
    path: '/api/things/{id}',
    access: 'viewer',
    summary: 'A thing',
    answers: { 200: json({ type: 'object', properties: { id: text }, required: ['id'] }) },
  }
  const held = new Described(openApi([description], '1'))
  const asked = { method: 'GET', path: '/api/things/7?x=1', sent: undefined, type: 'application/json' }

  test.each([
    ['a member that is not named', 200, '{"id":"7","secret":1}', /additional/],
    ['a member that is missing', 200, '{}', /id/],
    ['another status', 201, '{"id":"7"}', /201 is not described/],
    ['a code that it does not name', 404, '{}', /as application\/json is not described/],
  ])('is found: %s', (_, status, answer, fault) => {
    expect(held.fault({ ...asked, status, text: answer })).toMatch(fault)
  })

  test('is not reported if the document describes it', () => {
    expect(held.fault({ ...asked, status: 200, text: '{"id":"7"}' })).toBe(null)
  })

  test('is found by its code if it is a problem', () => {
    const problem = (code: string): string =>
      JSON.stringify({ type: 'x', title: 'x', status: 404, code, detail: 'x', hint: 'x' })
    const answer = { ...asked, status: 404, type: 'application/problem+json' }
    expect(held.fault({ ...answer, text: problem('NOT_FOUND') })).toBe(null)
    expect(held.fault({ ...answer, text: problem('RUN_ENDED') })).toMatch(/RUN_ENDED is not described/)
  })
})
