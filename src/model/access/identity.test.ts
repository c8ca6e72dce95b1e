/** Roles and kinds against every kind of door. */
import { expect, test } from 'vitest'
import { type Access, forbidAccess, forbidProgram, KINDS, lowered, ROLES } from './identity.ts'

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

test('identity-3: what a request says of its kind makes no agent and no service a person (13.1.2)', () => {
  for (const kind of KINDS)
    for (const said of [null, ...KINDS]) {
      const after = lowered({ kind }, said).kind
      expect([kind, said, after]).toEqual([kind, said, kind === 'user' && said !== null ? said : kind])
      expect(after === 'user').toBe(kind === 'user' && (said ?? 'user') === 'user')
    }
  expect(KINDS.filter((kind) => forbidProgram({ id: 'x', kind }, 'answers') === null)).toEqual(['user'])
})
