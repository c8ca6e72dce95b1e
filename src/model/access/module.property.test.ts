/** Allowlists of modules, compared with their plain reading. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { type CapabilityKind, type Module, mayUse, permits, requireCapability } from './module.ts'

const EMPTY = { operations: [], hosts: [], tables: { read: [], write: [] }, events: [], secrets: [], modules: [] }
const KINDS: readonly CapabilityKind[] = ['operation', 'host', 'read', 'write', 'event', 'secret', 'module']
const word = fc.stringMatching(/^[a-z]{1,3}(\.[a-z]{1,3}){0,2}$/)

const withList = (kind: CapabilityKind, list: readonly string[]): Module => {
  const tables = { read: kind === 'read' ? list : [], write: kind === 'write' ? list : [] }
  const key = { operation: 'operations', host: 'hosts', event: 'events', secret: 'secrets', module: 'modules' } as const
  const rest = kind === 'read' || kind === 'write' ? {} : { [key[kind]]: list }
  return { name: 'm', allow: { ...EMPTY, ...rest, tables } }
}

describe('modules', () => {
  test('[N9] module-1: an empty list denies everything, and a list without wildcards allows exactly what it names', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.array(word, { maxLength: 3 }), word, (kind, list, name) => {
        expect(permits(withList(kind, list), { kind, name })).toBe(list.includes(name))
        expect(permits({ name: 'm', allow: EMPTY }, { kind, name })).toBe(false)
      }),
      policyCases(11),
    )
  })

  test('a name on one list is not allowed by any other list', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.constantFrom(...KINDS), word, (kind, other, name) => {
        expect(permits(withList(kind, [name]), { kind: other, name })).toBe(kind === other)
      }),
      policyCases(13),
    )
  })

  test.each([
    ['order.*', 'order.placed', true],
    ['order.*', 'order', false],
    ['order.*', 'orders.placed', false],
    ['*', 'anything', true],
    ['*.example.org', 'mail.example.org', true],
    ['*.example.org', 'example.org', false],
    ['*.example.org', 'example.org.evil.net', false],
    ['*.example.org', '.example.org', false],
  ])('the pattern %s matches the name %s: %s', (pattern, name, allowed) => {
    expect(permits(withList('event', [pattern]), { kind: 'event', name })).toBe(allowed)
  })

  test('[N9] a denial names the module and the capability', () => {
    const module = withList('event', ['order.*'])
    const wanted = { kind: 'event', name: 'mail.sent' } as const
    expect(() => requireCapability(module, wanted)).toThrow('MODULE_DENIED: module m may not use event mail.sent')
    expect(() => requireCapability(null, wanted)).not.toThrow()
    expect(() => requireCapability(module, { kind: 'event', name: 'order.paid' })).not.toThrow()
  })

  test('[N9] a list of tools allows exactly what it names; a module without one does not limit tools', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 3 }), word, (tools, name) => {
        expect(mayUse({ name: 'm', allow: EMPTY, tools }, name)).toBe(tools.includes(name))
        expect(mayUse({ name: 'm', allow: EMPTY }, name)).toBe(true)
        expect(mayUse(null, name)).toBe(true)
      }),
      policyCases(12),
    )
  })
})
