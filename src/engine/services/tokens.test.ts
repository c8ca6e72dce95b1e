/** Credentials on an in-memory ledger: the secret is not in any stored document. */
import { expect, test } from 'vitest'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, SERVER_TENANT, type TenantId } from '#model/kernel/ids.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import { Tokens } from './tokens.ts'

const INTENT = { tenant: 'local', name: 'ana', kind: 'user', roles: ['viewer'], groups: ['leads'] }
const ACME = 'acme' as TenantId

const open = () => {
  const { ledger, reader } = openMemory()
  const time = { now: 1_000 }
  let appends = 0
  let secrets = 0
  const note = async (documents: readonly DocumentWrite[]): Promise<void> => {
    await ledger.append([{ appendId: `a${appends++}`, writes: [], events: [], signals: [], documents }])
  }
  const clock = { now: () => time.now, at: () => () => {} }
  const tokens = new Tokens({ note, reader, clock, ids: new SystemIds(), secret: () => `secret-${secrets++}` })
  return { tokens, reader, time }
}

test('tokens-1: a token identifies its owner, and only its hash is stored', async () => {
  const { tokens, reader } = open()
  const { token, record } = await tokens.create(INTENT, 'local')
  expect(token).toBe('th_secret-0')
  expect(await tokens.callerOf(token)).toEqual({
    tenant: 'local',
    id: 'ana',
    kind: 'user',
    roles: ['viewer'],
    groups: ['leads'],
  })
  expect(await tokens.callerById(record.id)).toMatchObject({ id: 'ana' })
  const kept = await reader.documents({ tenant: SERVER_TENANT, table: 'trihand.token', after: null, limit: 10 })
  expect(JSON.stringify(kept)).not.toContain('secret-0')
  for (const other of ['th_secret-1', 'secret-0', '', 'th_']) expect(await tokens.callerOf(other)).toBeNull()
  expect(await tokens.callerById('tok_x')).toBeNull()
})

test('a token is no longer valid when it expires or is revoked', async () => {
  const { tokens, time } = open()
  const short = await tokens.create(INTENT, 'local', 10)
  const long = await tokens.create(INTENT, 'local')
  time.now += 10
  expect(await tokens.callerOf(short.token)).toBeNull()
  expect(await tokens.callerOf(long.token)).not.toBeNull()
  const revoked = await tokens.revoke(long.record.id, null)
  expect(revoked.revokedAt).toBe(time.now)
  time.now += 5
  expect(await tokens.revoke(long.record.id, null)).toEqual(revoked)
  expect(await tokens.callerOf(long.token)).toBeNull()
  expect(await tokens.callerById(long.record.id)).toBeNull()
})

test('tokens are listed newest first, for one tenant or all; another tenant cannot revoke them', async () => {
  const { tokens, time } = open()
  const first = await tokens.create(INTENT, 'local')
  time.now += 1
  const second = await tokens.create({ ...INTENT, tenant: 'acme', roles: ['admin'] }, 'local')
  expect((await tokens.list(null)).map(({ id }) => id)).toEqual([second.record.id, first.record.id])
  expect(await tokens.list(ACME)).toEqual([second.record])
  await expect(tokens.revoke(second.record.id, LOCAL_TENANT)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(tokens.revoke('tok_1', null)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect([await tokens.hasAny('admin'), await tokens.hasAny('operator')]).toEqual([true, false])
})

test('a token with forbidden roles or an invalid lifetime is refused', async () => {
  const { tokens } = open()
  await expect(tokens.create({ ...INTENT, kind: 'agent', roles: ['decider'] }, 'local')).rejects.toMatchObject({
    code: 'TOKEN_INVALID',
  })
  for (const life of [0, -1, Number.NaN, 400 * 86_400_000])
    await expect(tokens.create(INTENT, 'local', life)).rejects.toMatchObject({ code: 'TOKEN_INVALID' })
})

test('tokens-2: a token lookup throws if the store fails', async () => {
  const away = new TrihandError('LEDGER_UNAVAILABLE', 'away')
  const reader = { document: () => Promise.reject(away), documents: () => Promise.reject(away) }
  const clock = { now: () => 0, at: () => () => {} }
  const tokens = new Tokens({ note: async () => {}, reader, clock, ids: new SystemIds(), secret: () => 's' })
  await expect(tokens.callerOf('th_x')).rejects.toBe(away)
})
