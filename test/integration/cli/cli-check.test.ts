/** `trihand check --against`: compares unfinished runs with new code before a deploy, for every kind of ledger and server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'

const BEFORE = `import { writeFileSync } from 'node:fs'
import { defineSystem, fn } from 'trihand'

const text = (field: string) => ({
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: any) => (typeof value?.[field] === 'string' ? { value } : { issues: [{ message: 'expected a text', path: [field] }] }),
  },
}) as const

export const system = defineSystem({
  name: 'shop',
  events: { go: text('id'), on: null, off: null },
  functions: [
    fn('pay', { trigger: 'go' }, async ({ step }) => {
      await step.run('charge', () => writeFileSync('charged.txt', 'yes'), { effect: 'once' })
      const found = await step.run('find', () => ({ name: 'ana' }))
      await step.waitForEvent('news', { event: 'on' })
      return step.run('thank', () => writeFileSync('thanked.txt', found.name))
    }),
    fn('nap', {}, async ({ step }) => {
      for (const cup of ['tea', 'milk']) await step.run('drink', () => cup, { key: cup })
      await step.sleep('night', '1h')
    }),
    fn('gone', {}, async ({ step }) => step.sleep('long', '1h')),
  ],
})
`
const AFTER = BEFORE.replace("step.run('charge'", "step.run('bill'")
  .replace("['tea', 'milk']", "['tea']")
  .replace("fn('gone'", "fn('other'")
  .replace("text('id')", "text('number')")
  .replace(', on: null', '')
  .replace("{ event: 'on' }", "{ event: 'off' }")

let folder: Folder
beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': BEFORE, 'new/system.ts': AFTER })
})
afterEach(() => folder.remove())

const begin = async (...door: readonly string[]): Promise<Readonly<Record<string, string>>> => {
  await folder.run(['send', 'go', '{"id":"a"}', '--wait', '200ms', ...door])
  await folder.run(['start', 'nap', '{}', '--wait', '200ms', ...door])
  await folder.run(['start', 'gone', '{}', '--wait', '200ms', ...door])
  const { items } = await folder.json(['runs', 'list', ...door])
  return Object.fromEntries(items.map(({ handler, id }: { handler: string; id: string }) => [handler, id]))
}

const kinds = (stdout: string): readonly string[] =>
  stdout.split('\n').flatMap((line) => {
    const [run = '', handler, , kind] = line.split(' ')
    return run.startsWith('run_') ? `${handler} ${kind}` : []
  })

const TROUBLES = [
  'gone handler_removed',
  'nap step_removed',
  'pay event_removed',
  'pay event_schema_changed',
  'pay once_step_renamed',
]

const found = async (against: string, env = {}) => {
  const { code, stdout, stderr } = await folder.run(['check', 'new', '--against', against], { env })
  return { code, stdout, stderr, kinds: [...new Set(kinds(stdout))].sort() }
}

describe('[N5] trihand check --against', () => {
  const ledger = '.trihand/trihand.db'

  test('a SQLite ledger: code that still fits ends with 0, and performs no step (13.2.3)', async () => {
    await begin()
    // An added step is compatible, even before steps that have results.
    folder.write(
      'system.ts',
      BEFORE.replace("await step.run('charge'", "await step.run('audit', () => 7)\n      await step.run('charge'"),
    )
    const { code, stdout, stderr } = await folder.run(['check', '--against', ledger])
    expect([stderr, stdout, code]).toEqual(['', '3 runs have not ended; 0 would not be able to continue\n', 0])
    expect(existsSync(join(folder.path, 'thanked.txt'))).toBe(false)
    const document = await folder.json(['check', '--against', ledger])
    expect(document).toMatchObject({ system: 'shop', runs: 3, troubled: [], skipped: [] })
  })

  test('a SQLite ledger: steps, handlers, events and schemas that no longer fit end with 1 and list the runs (13.2.3)', async () => {
    const runs = await begin()
    const { code, stdout, kinds } = await found(ledger)
    expect([code, kinds]).toEqual([1, TROUBLES])
    for (const id of Object.values(runs)) expect(stdout).toContain(id)
    expect(stdout).toContain('the code does not ask for the step drink[milk], which has a result')
    expect(stdout).toContain(
      'the code does not ask for the step charge, which has a result and may happen only once; it asks for bill instead',
    )
    expect(stdout).toContain('3 runs have not ended; 3 would not be able to continue')
  })

  test('a SQLite ledger: an input that no longer fits, and code that fails on recorded results, end with 1 (13.2.3)', async () => {
    await begin()
    folder.write(
      'new/system.ts',
      BEFORE.replace("fn('nap', {},", "fn('nap', { input: text('bed') },").replace(
        "await step.waitForEvent('news'",
        "if (found.name === 'ana') throw new Error('ana is not served any more')\n      await step.waitForEvent('news'",
      ),
    )
    const { code, stdout, kinds } = await found(ledger)
    expect([code, kinds]).toEqual([1, ['nap input_schema_changed', 'pay code_fails', 'pay step_removed']])
    expect(stdout).toContain('the code fails with the recorded results of the run: ana is not served any more')
  })

  test('a server is found by its URL with a token, and by its ledger’s file; without the token it ends with 7 (13.2.3)', async () => {
    await begin()
    const server = await folder.serve(['dev', '--port', '0'], {
      env: { TRIHAND_PUBLIC_URL: 'https://trihand.example' },
    })
    const line = server.stdout.split('\n').find((text) => text.includes('admin_token'))
    const env = { TRIHAND_TOKEN: String(JSON.parse(line ?? '{}').token) }
    expect((await found(server.url)).code).toBe(7)
    for (const against of [server.url, ledger])
      expect(await found(against, env)).toMatchObject({ code: 1, kinds: TROUBLES })
  })

  test('a handler without code is reported; a missing ledger and a ledger in memory are refused (13.2.3)', async () => {
    await begin()
    folder.write(
      'new/system.ts',
      BEFORE.replace("fn('gone', {}, async ({ step }) => step.sleep('long', '1h'))", "fn('gone', {})"),
    )
    expect((await found(ledger)).kinds).toEqual(['gone handler_removed'])
    expect((await found('nowhere.db')).code).toBe(6)
    expect((await found('memory:')).code).toBe(2)
    expect((await folder.run(['check', 'nowhere'])).code).toBe(4)
    expect((await folder.run(['check'])).stdout).toBe('shop loads: 3 functions\n')
  })

  test('manifest validate and manifest diff read a system that is written as code (13.2.2)', async () => {
    expect(await folder.run(['manifest', 'validate'])).toMatchObject({
      code: 0,
      stdout: 'shop: 0 errors, 0 warnings, 0 notes\n',
    })
    expect(await folder.run(['manifest', 'diff', '.', 'system.ts'])).toMatchObject({ code: 0, stdout: '' })
    const { code, stdout } = await folder.run(['manifest', 'diff', '.', 'new'])
    expect([code, stdout.includes('gone')]).toEqual([1, true])
    folder.write('system.ts', 'export const system = {')
    expect((await folder.run(['manifest', 'validate'])).code).toBe(4)
  })

  const cluster = process.env['TRIHAND_TEST_PG_URL'] ?? ''
  test.skipIf(cluster === '')(
    'a Postgres ledger: the same results; an older schema is refused and not changed (13.2.3)',
    async () => {
      const place = await freshSchema(cluster)
      try {
        await begin('--database', place.url)
        expect(await found(place.url)).toMatchObject({ code: 1, kinds: TROUBLES })
        const { ask } = await import('#test/support/stores/postgres-schema.ts')
        await ask(place.url, 'delete from trihand_migration where version = 13')
        const { code, stderr } = await found(place.url)
        expect([code, stderr.split(' ')[0]]).toEqual([6, 'LEDGER_OLDER'])
      } finally {
        await place.drop()
      }
    },
  )
})
