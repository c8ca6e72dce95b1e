/** Credentials from the command line, against a server that asks for them. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '../support/command.ts'
import { SHOP } from '../support/shop.ts'

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SHOP })
})
afterEach(() => folder.remove())

const asking = { TRIHAND_PUBLIC_URL: 'https://trihand.example' }

const adminOf = (stdout: string): string => {
  const line = stdout.split('\n').find((text) => text.includes('admin_token'))
  return JSON.parse(line ?? '{}').token
}

test('a public server shows an administrator its token once; others get theirs, work with them, and lose them', async () => {
  const first = await folder.serve(['dev', '--port', '0'], { env: asking })
  const admin = { TRIHAND_TOKEN: adminOf(first.stdout) }
  expect(admin.TRIHAND_TOKEN).toMatch(/^th_/)
  expect((await folder.run(['runs', 'list'])).code).toBe(7)
  const wish = ['token', 'create', 'billing', '--kind', 'service', '--roles', 'operator']
  const { id, token } = await folder.json(wish, { env: admin })
  const billing = { TRIHAND_TOKEN: token }
  expect((await folder.run(['send', 'order.paid', '{"id":"a"}'], { env: billing })).code).toBe(0)
  expect((await folder.run(['token', 'list'], { env: billing })).code).toBe(7)
  expect(await folder.json(['token', 'revoke', id], { env: admin })).toMatchObject({ status: 'revoked' })
  expect((await folder.run(['runs', 'list'], { env: billing })).code).toBe(7)
  expect(statSync(join(folder.path, '.trihand/signing-key')).mode & 0o777).toBe(0o600)
  await first.stop('SIGTERM')
  const second = await folder.serve(['dev', '--port', '0'], { env: asking })
  expect(second.stdout).not.toContain('admin_token')
  expect((await folder.run(['token', 'list'], { env: admin })).stdout).toContain('billing')
})

test('without a server the one who has the ledger makes tokens; a wish that cannot be ends with 4', async () => {
  await folder.run(['send', 'order.paid', '{"id":"a"}'])
  expect((await folder.run(['token', 'create', 'ana', '--roles', 'viewer,decider'])).stdout).toMatch(/^th_\S+\n$/)
  expect((await folder.run(['token', 'create', 'bot', '--kind', 'agent', '--roles', 'decider'])).code).toBe(4)
  expect((await folder.run(['token', 'list', '--quiet'])).stdout).toMatch(/^tok_[0-9a-f]{32}\n$/)
})
