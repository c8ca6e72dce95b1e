/** Roles and kinds against every kind of door. */
import { expect, test } from 'vitest'
import { type Access, forbidAccess, KINDS, ROLES } from './identity.ts'

const DOORS: readonly Access[] = ['public', ...ROLES]

test('identity-1: each role opens its own door and lets its holder look, and no other', () => {
  for (const role of ROLES)
    for (const door of DOORS) {
      const isOpen = forbidAccess({ id: 'ana', kind: 'user', roles: [role] }, door) === null
      expect([role, door, isOpen]).toEqual([role, door, door === 'public' || door === 'viewer' || door === role])
    }
})

test('identity-2: services and agents never decide, with all roles', () => {
  for (const kind of KINDS)
    expect(forbidAccess({ id: 'x', kind, roles: ROLES }, 'decider')?.code ?? null).toBe(
      kind === 'user' ? null : 'AGENT_CANNOT_DECIDE',
    )
})

test('who has no role sees what is public and nothing else', () => {
  const nobody = { id: 'eve', kind: 'user', roles: [] } as const
  expect(DOORS.filter((door) => forbidAccess(nobody, door) === null)).toEqual(['public'])
  expect(forbidAccess(nobody, 'viewer')).toMatchObject({
    code: 'ROLE_MISSING',
    detail: expect.stringContaining('none'),
  })
})
