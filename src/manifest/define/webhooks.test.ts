/** Webhooks as they are declared: the normal form, and what is refused. */
import { expect, test } from 'vitest'
import { resolveReferences } from '#manifest/expressions/reference.ts'
import { defineWebhooks, type WebhookSource } from './webhooks.ts'

const define = (webhook: Partial<WebhookSource>) =>
  defineWebhooks([{ name: 'pay', emits: 'paid', secret: 'x', ...webhook }])
    .values()
    .next().value

test('[L1] a webhook has auth standard and its name as the path by default', () => {
  expect(define({})).toMatchObject({ path: '/hooks/pay', auth: 'standard', secrets: ['x'], idHeader: 'webhook-id' })
  expect(define({ auth: 'hmac', path: '/hooks/a/b', header: 'X-Sign' })).toMatchObject({
    path: '/hooks/a/b',
    header: 'x-sign',
  })
})

test.each<[string, Partial<WebhookSource>]>([
  ['set unsigned: true', { auth: 'none', secret: '' }],
  ['needs a secret', { secret: '' }],
  ['needs a secret', { auth: 'bearer', secret: [] }],
  ['cannot have a secret', { auth: 'none', unsigned: true }],
  ['needs auth none', { unsigned: true }],
  ['not a path under /hooks/', { path: '/api/events' }],
  ['not a path under /hooks/', { path: '/hooks/../api' }],
  ['is not an event type', { emits: 'Paid!' }],
  ['expected one of standard', { auth: 'basic' as never }],
  ['not the name of a header', { auth: 'hmac', header: 'a b' }],
  ['has fixed headers', { idHeader: 'x-id' }],
  ['does not cover headers', { auth: 'hmac', idHeader: 'x-github-delivery' }],
  ['needs auth hmac', { auth: 'api_key', scheme: 'slack' }],
  ['expected one of body, stripe, slack', { auth: 'hmac', scheme: 'github' as never }],
])('[L1][S12] refused: %s', (detail, webhook) => {
  expect(() => define(webhook)).toThrow(
    expect.objectContaining({ code: 'MANIFEST_INVALID', detail: expect.stringContaining(detail) }),
  )
})

test('[L1] a reserved event, a bad template and a path that is taken are each refused with their own code', () => {
  expect(() => define({ emits: 'trihand.x' })).toThrow(expect.objectContaining({ code: 'EVENT_RESERVED' }))
  expect(() => define({ transform: { a: '{{ nobody.a }}' } })).toThrow(
    expect.objectContaining({ code: 'EXPR_REJECTED' }),
  )
  const twice = ['a', 'b'].map((name) => ({ name, path: '/hooks/x', emits: 'paid', secret: 'x' }))
  expect(() => defineWebhooks(twice)).toThrow(expect.objectContaining({ code: 'MANIFEST_DUPLICATE_NAME' }))
})

test('a reference resolves to the variable, its default, or an error that names it', () => {
  const reference = (inner: string): string => ['$', '{', inner, '}'].join('')
  expect(resolveReferences(`a-${reference('B')}`, { B: 'b' })).toBe('a-b')
  expect(resolveReferences(reference('B:-c'), { B: '' })).toBe('c')
  expect(resolveReferences(`$${reference('B')}`, {})).toBe(reference('B'))
  expect(() => resolveReferences(reference('B'), {})).toThrow(
    expect.objectContaining({ code: 'ENV_MISSING', detail: expect.stringContaining('B') }),
  )
})
