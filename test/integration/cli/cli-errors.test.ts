/** Every user error and every failure of the machine, as the command reports it: a code, a place, a remedy. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadDriver } from '#adapters/storage/sqlite/driver.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'

/** Starts a program in its own mount namespace. */
const OWN_MOUNTS = ['unshare', '-rm'] as const

/** Sends until a send is refused, then repeats it on a larger disk. */
const FILL_A_SMALL_DISK = `mount -t tmpfs -o size=1500k tmpfs disk
code=0
while [ $code = 0 ]; do "$@"; code=$?; done
echo refused with $code
mount -o remount,size=20m disk
"$@"
`

let folder: Folder

beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SHOP })
})
afterEach(() => folder.remove())

const system = (body: string): string => `import { defineSystem, fn } from 'trihand'\n${body}\n`

describe('a mistake on the command line', () => {
  test.each([
    ['{"id":', 'NOT_JSON', 'the data is not JSON'],
    ['{"id":7}', 'EVENT_INVALID', 'event order.placed does not match its schema: /id: expected a text'],
    ['{"id":"a","constructor":1}', 'JSON_INVALID', '/data/constructor is a forbidden key'],
  ])('data %s is %s', async (data, code, words) => {
    const ended = await folder.run(['send', 'order.placed', data])
    expect([ended.code, ended.stdout]).toEqual([4, ''])
    expect(ended.stderr).toMatch(new RegExp(`^${code} `))
    expect(ended.stderr).toContain(words)
  })

  test('an unknown event is refused with the nearest name', async () => {
    const { code, stderr } = await folder.run(['send', 'order.pad', '{}'])
    expect(code).toBe(4)
    expect(stderr).toMatch(/^EVENT_UNKNOWN the event order\.pad is not declared; did you mean order\.paid\?\n/)
  })

  test('an event without a similar name is refused with the list of declared ones', async () => {
    const { code, stderr } = await folder.run(['send', 'weather', '{}'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('declared events: order.placed, order.paid')])
  })

  test('a wrong use of a verb is refused with a pointer to its help', async () => {
    const { code, stderr } = await folder.run(['runs', 'show'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('See `trihand runs show --help`.')])
  })

  test('an unreadable file is a usage error', async () => {
    const { code, stderr } = await folder.run(['send', 'order.placed', '@nowhere.json'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^CONFIG_INVALID cannot read nowhere\.json: /)])
  })

  test('a named server that does not answer is never replaced by a ledger', async () => {
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    for (const options of [
      { args: ['--server', 'http://127.0.0.1:1'] },
      { env: { TRIHAND_URL: 'http://127.0.0.1:1' } },
    ]) {
      const { code, stderr } = await folder.run(['runs', 'list', ...(options.args ?? [])], options)
      expect([code, stderr]).toEqual([
        6,
        expect.stringMatching(/^SERVER_UNREACHABLE http:\/\/127\.0\.0\.1:1 does not answer/),
      ])
    }
  })
})

describe('a mistake in the system', () => {
  const load = async (source: string, name = 'system.ts') => {
    const other = new Folder({ [name]: source })
    const ended = await other.run(['dev', '--port', '0'])
    const madeLedger = existsSync(join(other.path, '.trihand/trihand.db'))
    await other.remove()
    return { ...ended, madeLedger }
  }

  test('an invalid filter expression is reported at load, with its place', async () => {
    const source = system(`export const system = defineSystem({
  name: 'x',
  functions: [fn('a', { trigger: { event: 'go.now', filter: 'payload.n ==' } })],
})`)
    const { code, stderr, madeLedger } = await load(source)
    expect([code, madeLedger]).toEqual([4, false])
    expect(stderr).toMatch(
      /^EXPR_REJECTED system\.ts:2:\d+ .*"payload\.n ==" \(column \d+ of the expression\)\nWrite a CEL expression/,
    )
  })

  test('an invalid filter in a system built without defineSystem is reported at load, too', async () => {
    const source = system(
      `export const system = { name: 'x', functions: [fn('a', { trigger: { event: 'go.now', filter: 'nobody.n > 1' } })] }`,
    )
    const { code, stderr, madeLedger } = await load(source)
    expect([code, madeLedger]).toEqual([4, false])
    expect(stderr).toMatch(/^EXPR_REJECTED system\.ts .*nobody/)
  })

  test('a syntax error is reported with its line and column', async () => {
    const { code, stderr } = await load(system(`export const system = {\n  name: 'x' 'y',\n}`))
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^LOAD_FAILED system\.ts:3:13 Unexpected token/)])
  })

  test('code that throws while it loads is reported with its line', async () => {
    const { code, stderr } = await load(system(`export const system = (() => {\n  throw new Error('no luck')\n})()`))
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^LOAD_FAILED system\.ts:3:\d+ no luck\n/)])
  })

  test('a missing import is reported with the file that imports it', async () => {
    const { code, stderr } = await load(`import { x } from './nowhere.ts'\nexport const system = { name: x }\n`)
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^LOAD_FAILED system\.ts:1:\d+ Cannot find module '\.\/nowhere\.ts'\n/),
    ])
  })

  test('an invalid definition keeps its own error code', async () => {
    const twice = await load(
      system(`const a = fn('a', {})\nexport default defineSystem({ name: 'x', functions: [a, a] })`),
    )
    expect(twice.stderr).toMatch(/^MANIFEST_DUPLICATE_NAME system\.ts:3:\d+ two handlers are named a\n/)
  })

  test.each([
    ['export const other = 1\n', /^LOAD_FAILED system\.ts it exports no system; expected/],
    ['export const system = 7\n', /^LOAD_FAILED system\.ts it exports no system; expected/],
  ])('a file without a system is refused with the export that it needs: %j', async (source, words) => {
    expect((await load(source)).stderr).toMatch(words)
  })

  test('plain JavaScript and a default export are systems, too', async () => {
    for (const name of ['system.js', 'system.mjs']) {
      const other = new Folder({ [name]: system(`export default defineSystem({ name: 'plain', open: true })`) })
      expect(await other.json(['send', 'any.thing'])).toMatchObject({ sequence: 1, runs: [] })
      await other.remove()
    }
  })

  test('a folder without a system is refused with the file names that would do', async () => {
    mkdirSync(join(folder.path, 'empty'))
    const { code, stderr } = await folder.run(['dev', 'empty'])
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(
        /^LOAD_FAILED empty has no system \(none of manifest\.yaml, .*, system\.mjs\); `trihand init` creates one\n/,
      ),
    ])
  })
})

describe('a fault of the ledger', () => {
  test.each([
    ['mysql://x', 2, 'CONFIG_INVALID'],
    ['nowhere.db', 6, 'SERVER_UNREACHABLE'],
  ])('%s ends with %i %s', async (database, exit, code) => {
    const { code: found, stderr } = await folder.run(['runs', 'list', '--database', database])
    expect([found, stderr]).toEqual([exit, expect.stringMatching(`^${code} `)])
  })

  test('all mistakes in the environment are reported together', async () => {
    const env = { DATABASE_URL: 'mysql://x', PORT: 'many', TRIHAND_URL: 'here' }
    const { code, stderr } = await folder.run(['runs', 'list'], { env })
    expect(code).toBe(2)
    for (const name of Object.keys(env)) expect(stderr).toContain(name)
  })

  test('[R1] a database that is down is reported at once', async () => {
    for (const args of [
      ['dev', '--port', '0'],
      ['runs', 'list'],
      ['send', 'order.paid', '{}'],
    ]) {
      const { code, stdout, stderr } = await folder.run(args, { env: { DATABASE_URL: 'postgres://127.0.0.1:1/x' } })
      expect([code, stdout]).toEqual([6, ''])
      expect(stderr).toMatch(/^LEDGER_UNAVAILABLE .*ECONNREFUSED/)
    }
  })

  test('a ledger that a newer version has migrated is not touched', async () => {
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    const db = new (await loadDriver())(join(folder.path, '.trihand/trihand.db'), { timeout: 1_000 })
    db.exec(`insert into trihand_migration (version, name, breaking, applied_at) values (99, 'to-come', 1, 0)`)
    db.close()
    const { code, stderr } = await folder.run(['dev', '--port', '0'])
    expect(code).toBe(6)
    expect(stderr).toMatch(
      /^LEDGER_NEWER the ledger has schema version 99; this trihand supports up to \d+\nA newer trihand wrote this ledger\. Upgrade trihand/,
    )
    expect((await folder.run(['verify'])).code).toBe(2)
  })

  test('a file that is not a ledger is reported', async () => {
    folder.write('notes.db', 'this is not a database, it is a diary. '.repeat(200))
    const { code, stderr } = await folder.run(['runs', 'list', '--database', 'notes.db'])
    expect([code, stderr]).toEqual([6, expect.stringMatching(/^LEDGER_CORRUPT /)])
  })

  test('verify ends with 1 if a byte was changed', async () => {
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    const db = new (await loadDriver())(join(folder.path, '.trihand/trihand.db'), { timeout: 1_000 })
    db.exec(`update fact set body = replace(body, 'order.signed', 'order.sogned')`)
    db.close()
    const { code, stdout } = await folder.run(['verify'])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^V3 {3}run_[0-9a-f]{32}, fact \d+: /m)])
  })

  test('a full disk is reported, and sending works again once there is room', async (context) => {
    if (spawnSync(OWN_MOUNTS[0], [OWN_MOUNTS[1], 'true']).status !== 0)
      context.skip('no unshare here; a small disk cannot be made')
    // A separate disk of 1.5 MB, visible only to these processes.
    folder.write('fill.sh', FILL_A_SMALL_DISK)
    folder.write('note.json', JSON.stringify({ id: 'x'.repeat(200_000) }))
    mkdirSync(join(folder.path, 'disk'))
    const send = ['send', 'order.paid', '@note.json', '--database', 'disk/full.db', '--quiet']
    const { stdout, stderr } = await folder.run(send, { through: [...OWN_MOUNTS, 'sh', 'fill.sh'] })
    expect(stderr).toMatch(/^STORAGE_FULL .*\nFree disk space; work then continues automatically\.\n$/)
    expect(stdout).toMatch(/^(run_\S+\n)+refused with 6\nrun_\S+\n$/)
  })
})
