/** Endpoints as they are declared, in code and in a manifest. */
import { describe, expect, test } from 'vitest'
import { loadManifest } from '#manifest/yaml/load.ts'
import { sourceOf } from '#manifest/yaml/source.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { defineEndpoints, type EndpointSource } from './endpoints.ts'

const BOOKS: EndpointSource = { name: 'books', url: 'https://books.example/in', events: ['order.paid'] }
const refusal = (over: Partial<EndpointSource>): string => {
  try {
    defineEndpoints([{ ...BOOKS, ...over }])
    return 'nothing was refused'
  } catch (error) {
    return error instanceof TrihandError ? `${error.code}: ${error.detail}` : String(error)
  }
}

describe('an endpoint', () => {
  test('has an address, types of events, and secrets that all sign', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as definitions write it
    const secret = ['${NEW}', '${OLD}']
    const events = ['order.paid', 'human.decided', 'order.paid']
    expect([...defineEndpoints([{ ...BOOKS, events, secret }])]).toEqual([
      ['books', { name: 'books', url: BOOKS.url, events: ['order.paid', 'human.decided'], secrets: secret }],
    ])
  })

  test.each<[string, Partial<EndpointSource>, RegExp]>([
    ['a name', { name: 'Books' }, /a name must begin with a letter/],
    ['a short name', { name: 'b'.repeat(49) }, /at most 48/],
    ['an address', { url: 'books' }, /not an address/],
    ['an address of the web', { url: 'ftp://books.example' }, /not an address/],
    ['events', { events: [] }, /at least one/],
    ['types of events', { events: ['Order Paid'] }, /not an event type/],
  ])('requires %s', (_, over, problem) => {
    expect(refusal(over)).toMatch(/^MANIFEST_INVALID: endpoints\./)
    expect(refusal(over)).toMatch(problem)
  })

  test('has a unique name', () => {
    expect(() => defineEndpoints([BOOKS, BOOKS])).toThrow(/two endpoints are named books/)
  })
})

describe('in a manifest', () => {
  const text = (endpoints: string): string =>
    `product: {name: shop}\nevents: {order.paid: {source: external}}\nendpoints:\n  books:\n${endpoints}\n`

  test('endpoints are listed by name, and count as listeners of their events', () => {
    const { manifest, findings } = loadManifest(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as manifests write it
      text('    url: https://books.example/in\n    events: [order.paid]\n    secret: ${BOOKS_SECRET}'),
    )
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as manifests write it
    expect(manifest === null ? null : sourceOf(manifest).endpoints).toEqual([{ ...BOOKS, secret: '${BOOKS_SECRET}' }])
    expect(findings.map(({ code }) => code)).toEqual([])
  })

  test('each mistake is reported with its place', () => {
    const { findings } = loadManifest(text('    url: books\n    events: [order.paid]'))
    expect(findings).toMatchObject([{ code: 'MANIFEST_INVALID', path: 'endpoints.books.url', line: 5 }])
  })

  test('a secret in plain text is reported, too', () => {
    const { findings } = loadManifest(text('    url: https://a.example\n    events: [order.paid]\n    secret: hush'))
    expect(findings).toMatchObject([{ code: 'LINT_SECRET_LITERAL', line: 7 }])
  })
})
