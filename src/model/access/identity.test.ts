/** Every role and kind against every access level. */
import { expect, test } from 'vitest'
import { type Access, forbidAccess, forbidProgram, KINDS, lowered, ROLES } from './identity.ts'

const DOORS: readonly Access[] = ['public', ...ROLES]

test('identity-1: each role grants its own access and viewing, and nothing else', () => {
  for (const role of ROLES)
    for (const door of DOORS) {
      const isOpen = forbidAccess({ id: 'ana', kind: 'user', roles: [role] }, door) === null
      expect([role, door, isOpen]).toEqual([role, door, door === 'public' || door === 'viewer' || door === role])
    }
})

test('identity-2: services and agents never decide, even with all roles', () => {
  for (const kind of KINDS)
    expect(forbidAccess({ id: 'x', kind, roles: ROLES }, 'decider')?.code ?? null).toBe(
      kind === 'user' ? null : 'AGENT_CANNOT_DECIDE',
    )
})

test('a caller without a role sees only what is public', () => {
  const nobody = { id: 'eve', kind: 'user', roles: [] } as const
  expect(DOORS.filter((door) => forbidAccess(nobody, door) === null)).toEqual(['public'])
  expect(forbidAccess(nobody, 'viewer')).toMatchObject({
    code: 'ROLE_MISSING',
    detail: expect.stringContaining('none'),
  })
})

test('identity-3: a request that states another kind never turns an agent or a service into a person (13.1.2)', () => {
  for (const kind of KINDS)
    for (const said of [null, ...KINDS]) {
      const after = lowered({ kind }, said).kind
      expect([kind, said, after]).toEqual([kind, said, kind === 'user' && said !== null ? said : kind])
      expect(after === 'user').toBe(kind === 'user' && (said ?? 'user') === 'user')
    }
  expect(KINDS.filter((kind) => forbidProgram({ id: 'x', kind }, 'answers') === null)).toEqual(['user'])
})
