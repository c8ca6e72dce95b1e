/** Which tokens may be created, and when a token counts. */
import { expect, test } from 'vitest'
import { LOCAL_TENANT, tokenId } from '#model/kernel/ids.ts'
import { callerOf, fromTokenJson, type TokenIntent, type TokenRecord, tokenSpec, toTokenJson } from './token.ts'

const INTENT: TokenIntent = {
  tenant: 'acme',
  name: 'ana',
  kind: 'user',
  roles: ['decider', 'viewer'],
  groups: ['leads', 'leads'],
}

const aToken = (over: Partial<TokenRecord> = {}): TokenRecord => ({
  id: tokenId('abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'),
  hash: 'h',
  tenant: LOCAL_TENANT,
  name: 'ana',
  kind: 'user',
  roles: ['viewer'],
  groups: [],
  createdAt: 0,
  createdBy: 'local',
  expiresAt: 100,
  revokedAt: null,
  ...over,
})

test('a token has its roles in one order and each group once', () => {
  expect(tokenSpec(INTENT)).toEqual({ ...INTENT, roles: ['viewer', 'decider'], groups: ['leads'] })
})

test('token-2: options that exclude each other are refused with the reason', () => {
  const table: readonly [Partial<TokenIntent>, string][] = [
    [{ kind: 'agent' }, 'people decide'],
    [{ kind: 'service' }, 'people decide'],
    [{ kind: 'robot' }, 'expected one of user'],
    [{ roles: [] }, 'roles are missing'],
    [{ roles: ['root'] }, 'role is "root"'],
    [{ tenant: '*' }, 'tenant is "*"'],
    [{ tenant: 'Acme' }, 'tenant is "Acme"'],
    [{ name: '' }, 'name must'],
    [{ groups: ['a,b'] }, 'without a comma'],
  ]
  for (const [over, detail] of table)
    expect(tokenSpec({ ...INTENT, ...over })).toMatchObject({
      code: 'TOKEN_INVALID',
      detail: expect.stringContaining(detail),
    })
})

test('token-1: a token counts until it expires or is revoked', () => {
  expect(callerOf(aToken(), 99)).toEqual({ tenant: 'local', id: 'ana', kind: 'user', roles: ['viewer'], groups: [] })
  expect(callerOf(aToken(), 100)).toBeNull()
  expect(callerOf(aToken({ revokedAt: 5 }), 6)).toBeNull()
})

test('a token is read back as it was written, and any other value is not a token', () => {
  expect(fromTokenJson(toTokenJson(aToken()))).toEqual(aToken())
  for (const other of [null, 1, 'x', [], {}, { hash: 'h' }]) expect(fromTokenJson(other)).toBeNull()
})
