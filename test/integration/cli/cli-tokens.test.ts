/** Credentials from the command line, against a server that requires them. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'
import { until } from '#test/support/until.ts'

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

test("a public server shows an administrator's token once; the administrator creates and revokes tokens of others", async () => {
  const first = await folder.serve(['dev', '--port', '0'], { env: asking })
  const admin = { TRIHAND_TOKEN: adminOf(first.stdout) }
  expect(admin.TRIHAND_TOKEN).toMatch(/^th_/)
  expect((await folder.run(['runs', 'list'])).code).toBe(7)
  const intent = ['token', 'create', 'billing', '--kind', 'service', '--roles', 'operator']
  const { id, token } = await folder.json(intent, { env: admin })
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

test('without a server the owner of the ledger creates tokens; an impossible request ends with 4', async () => {
  await folder.run(['send', 'order.paid', '{"id":"a"}'])
  expect((await folder.run(['token', 'create', 'ana', '--roles', 'viewer,decider'])).stdout).toMatch(/^th_\S+\n$/)
  expect((await folder.run(['token', 'create', 'bot', '--kind', 'agent', '--roles', 'decider'])).code).toBe(4)
  expect((await folder.run(['token', 'list', '--quiet'])).stdout).toMatch(/^tok_[0-9a-f]{32}\n$/)
})

const LETTERS = `import { defineSystem, fn, human } from 'trihand'

export const system = defineSystem({
  name: 'letters',
  events: { 'letter.ready': null, 'budget.stated': { source: 'human' } },
  humans: [human('review', {
    trigger: 'letter.ready', assign: 'group:editors', actions: [{ name: 'approve', emitsEvent: 'letter.approved' }],
  })],
  functions: [
    fn('publish', { trigger: 'letter.approved' }, ({ step }) => step.run('print', () => 'printed')),
    fn('book', { trigger: 'budget.stated' }, () => 'booked'),
  ],
})
`

test('identity-2: [C5] the token of an agent or a service cannot decide, a person’s token can (13.1.2)', async () => {
  await folder.remove()
  folder = new Folder({ 'system.ts': LETTERS })
  const { stdout } = await folder.serve(['dev', '--port', '0'], { env: asking })
  const admin = { TRIHAND_TOKEN: adminOf(stdout) }
  const tokenOf = async (kind: string, roles: string) => {
    const intent = ['token', 'create', kind, '--kind', kind, '--roles', roles, '--groups', 'editors']
    return { env: { TRIHAND_TOKEN: (await folder.json(intent, { env: admin })).token as string } }
  }
  const person = await tokenOf('user', 'operator,decider')
  await folder.json(['send', 'letter.ready'], person)
  const { items } = await folder.json(['inbox', 'list', '--all', '--as', 'ana'], person)
  const [task] = items.map(({ id }: { id: string }) => id)
  const { shown_hash: hash } = await folder.json(['inbox', 'show', task, '--as', 'ana'], person)
  const codeOf = async (call: readonly string[], who: typeof person): Promise<string> =>
    /"code":\s*"(\w+)"/.exec((await folder.run([...call, '--json'], who)).stderr)?.[1] ?? 'done'
  const tries: readonly (readonly [readonly string[], string, string])[] = [
    [['send', 'letter.approved'], 'EVENT_HUMAN_ONLY', 'EVENT_HUMAN_ONLY'],
    [['start', 'publish'], 'FUNCTION_INTERNAL', 'FUNCTION_INTERNAL'],
    [['send', 'budget.stated'], 'EVENT_HUMAN_ONLY', 'done'],
    [['inbox', 'approve', task, '--as', 'ana', '--groups', 'editors', '--hash', hash], 'AGENT_CANNOT_DECIDE', 'done'],
  ]
  const agents = [await tokenOf('agent', 'operator,admin'), await tokenOf('service', 'operator,admin')]
  for (const [call, refused] of tries)
    for (const agent of agents) expect([call, await codeOf(call, agent)]).toEqual([call, refused])
  for (const [call, , answer] of tries) expect([call, await codeOf(call, person)]).toEqual([call, answer])
  const published = ['runs', 'list', '--handler', 'publish', '--status', 'success', '--quiet']
  const run = (
    await until(
      () => folder.run(published, person),
      ({ stdout: ids }) => ids.trim() !== '',
      { what: 'it is printed' },
    )
  ).stdout.trim()
  const again = ['runs', 'rerun', run]
  for (const agent of agents)
    for (const call of [again, ['token', 'create', 'eve', '--roles', 'decider']])
      expect([call, await codeOf(call, agent)]).toEqual([call, 'AGENT_CANNOT_DECIDE'])
  expect(await codeOf(again, person)).toBe('done')
})
