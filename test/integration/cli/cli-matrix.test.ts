/**
 * Every verb in every environment: a pipe, a terminal, `--json`, `CI`, `NO_COLOR`, a closed stdin. None hangs, none writes an escape code
 * where it cannot be shown, each ends with its documented exit code.
 *
 * Runs in this process where a separate one would prove nothing more; a few calls at the end use real streams.
 */
import { spawnSync } from 'node:child_process'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProgram } from '#cli/verbs.ts'
import { buildCommand, type CallOptions, type Ended, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'

const ESCAPE = '\u001b'
const NOBODY = 'ffffffff'
const ABSENT = 'ses_00000000000000000000000000000000'

/** One repeatable call of each verb, with its exit code. */
const CALLS: Readonly<Record<string, readonly [args: readonly string[], exit: number]>> = {
  dev: [['nowhere'], 4],
  demo: [['--port', '99999'], 2],
  init: [['shop'], 2],
  doctor: [[], 0],
  mcp: [['--system', 'nowhere'], 4],
  send: [['order.lost'], 0],
  'events list': [[], 0],
  'events show': [['1'], 0],
  'events tail': [[], 6],
  'events cancel': [[NOBODY], 3],
  'events replay': [['999999'], 3],
  start: [['weigh', '{}'], 0],
  'triggers list': [[], 0],
  'triggers test': [['order.lost'], 0],
  'triggers replay': [['nowhere', 'x'], 3],
  'triggers install': [[], 0],
  'triggers remove': [[], 0],
  check: [[], 0],
  'runs list': [[], 0],
  'runs show': [[NOBODY], 3],
  'runs why': [[NOBODY], 3],
  'runs watch': [[NOBODY], 3],
  'runs cancel': [[NOBODY], 3],
  'runs pause': [[NOBODY], 3],
  'runs resume': [[NOBODY], 3],
  'runs retry': [[NOBODY], 3],
  'runs rerun': [[NOBODY], 3],
  'inbox resolve': [['run_again', '--cause', 'worker gone', '--as', 'ana', '--groups', 'operators'], 3],
  'runs resolve': [[NOBODY, 'card', 'happened'], 3],
  worker: [['nowhere'], 4],
  'workers list': [[], 0],
  'workers show': [[NOBODY], 3],
  'workers drain': [[NOBODY], 3],
  'workers pause': [[NOBODY], 3],
  'workers resume': [[NOBODY], 3],
  'pools list': [[], 0],
  'circuits list': [[], 0],
  'circuits reset': [['nowhere'], 3],
  // Without a typed confirmation.
  stop: [[], 2],
  go: [[], 0],
  'schedules list': [[], 0],
  'schedules show': [['nowhere'], 3],
  'schedules pause': [['nowhere'], 3],
  'schedules resume': [['nowhere'], 3],
  'schedules run': [['nowhere'], 3],
  'schedules backfill': [['nowhere', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'], 3],
  'handlers pause': [['nowhere'], 3],
  'handlers resume': [['nowhere'], 3],
  'inbox list': [['--as', 'ana'], 0],
  'inbox show': [[NOBODY], 3],
  'inbox approve': [[NOBODY, '--as', 'ana'], 3],
  'inbox reject': [[NOBODY, '--as', 'ana'], 3],
  'inbox respond': [[NOBODY, '--as', 'ana'], 3],
  'inbox request-edit': [[NOBODY, '--as', 'ana'], 3],
  'inbox escalate': [[NOBODY, '--as', 'ana'], 3],
  'inbox edit': [[NOBODY, '--as', 'ana'], 3],
  'inbox claim': [[NOBODY, '--as', 'ana'], 3],
  'inbox reassign': [[NOBODY, 'user:eve', '--as', 'ana'], 3],
  'tasks list': [[], 0],
  'tasks show': [[NOBODY], 3],
  'tasks decide': [[NOBODY, 'approve', '--as', 'ana', '--hash', 'x'], 3],
  'tasks claim': [[NOBODY, '--as', 'ana'], 3],
  'tasks unclaim': [[NOBODY, '--as', 'ana'], 3],
  'tasks reassign': [[NOBODY, 'user:eve', '--as', 'ana'], 3],
  plan: [['a. Weigh'], 0],
  'token create': [['ana', '--roles', 'king'], 4],
  'token list': [[], 0],
  'token revoke': [['tok_00000000000000000000000000000000'], 3],
  costs: [[], 0],
  'sessions list': [[], 0],
  'sessions show': [[ABSENT], 3],
  'manifest validate': [['bells'], 0],
  'manifest graph': [['bells'], 0],
  'manifest types': [['bells'], 0],
  'manifest stubs': [['bells', '--dry-run'], 0],
  'manifest diff': [['bells', 'bells'], 0],
  'manifest print': [['bells'], 0],
  'manifest versions': [[], 0],
  // Nothing in the manifest sends its first event.
  simulate: [['bells'], 1],
  backup: [['system.ts'], 2],
  rekey: [[], 2],
  verify: [[], 0],
}

const leaves = (command: Command, path: readonly string[] = []): readonly string[] =>
  command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((child) => leaves(child, [...path, child.name()]))

const MANIFEST = `product: { name: bells }
events:
  definitions:
    - name: bell.rang
functions:
  - name: hear
    trigger: bell.rang
`

let folder: Folder
beforeAll(async () => {
  buildCommand()
  folder = new Folder({ 'system.ts': SHOP, 'bells/manifest.yaml': MANIFEST, 'shop/kept.txt': '' })
  await folder.json(['send', 'order.lost'])
}, 120_000)
afterAll(() => folder.remove())

const call = (verb: string, options: CallOptions, ...more: readonly string[]): Promise<Ended> =>
  folder.run([...verb.split(' '), ...(CALLS[verb]?.[0] ?? []), ...more], options)

test('every verb is in the table', () => {
  const program = createProgram(async () => {}, { stdout: { write: () => {} }, stderr: { write: () => {} } })
  expect(Object.keys(CALLS).sort()).toEqual([...leaves(program)].sort())
})

/** Environments without colours. */
const PLAIN: readonly (readonly [string, CallOptions])[] = [
  ['a pipe', { env: { CI: '' } }],
  ['a pipe under CI', { env: { CI: '1' } }],
  ['a terminal with NO_COLOR', { terminal: true, env: { NO_COLOR: '1' } }],
  ['a terminal that is dumb', { terminal: true, env: { TERM: 'dumb' } }],
]

/** One document, or one per line. */
const isJson = (text: string): boolean => {
  const parses = (part: string): boolean => {
    try {
      JSON.parse(part)
      return true
    } catch {
      return false
    }
  }
  return text === '' || parses(text) || text.trimEnd().split('\n').every(parses)
}

describe.each(Object.entries(CALLS))('trihand %s', (verb, [, exit]) => {
  test('ends as documented in every environment, with escape codes only at a terminal', async () => {
    for (const [surrounding, options] of PLAIN) {
      const { code, stdout, stderr } = await call(verb, options)
      expect({ surrounding, code, stderr }).toEqual({ surrounding, code: exit, stderr })
      expect({ surrounding, escape: (stdout + stderr).includes(ESCAPE) }).toEqual({ surrounding, escape: false })
    }
    expect((await call(verb, { terminal: true })).code).toBe(exit)
  })

  test('prints only JSON with --json, errors included', async () => {
    const { code, stdout, stderr } = await call(verb, { terminal: true }, '--json')
    expect({ code, stderr }).toEqual({ code: exit, stderr })
    expect((stdout + stderr).includes(ESCAPE)).toBe(false)
    expect([stdout, isJson(stdout)]).toEqual([stdout, true])
    expect([stderr, isJson(stderr)]).toEqual([stderr, true])
    if (exit > 1) expect(JSON.parse(stderr === '' ? stdout : stderr)).toMatchObject({ code: expect.any(String) })
  })
})

test('a terminal gets colours (otherwise these tests would show nothing)', async () => {
  expect((await call('runs show', { terminal: true })).stderr).toContain(ESCAPE)
})

/** A closed stdin, not only an empty one. */
const CLOSED: CallOptions = { through: ['sh', '-c', 'exec "$@" <&-', 'sh'] }

describe('in a separate process', () => {
  test.each([
    ['runs list', 0],
    ['mcp', 0],
    ['sned', 2],
  ])('%s works with a closed stdin', async (words, exit) => {
    const { code, stdout, stderr } = await folder.run(words.split(' '), CLOSED)
    expect([code, (stdout + stderr).includes(ESCAPE)]).toEqual([exit, false])
  })

  test('data expected from a closed stdin is reported as missing, and nothing is sent', async () => {
    const { code, stdout, stderr } = await folder.run(['send', 'order.lost', '-'], CLOSED)
    expect([code, stdout, stderr]).toEqual([4, '', expect.stringMatching(/^NOT_JSON the data is not JSON/)])
  })

  test('a real terminal shows colours and asks nothing; with NO_COLOR it shows none', async (context) => {
    if (spawnSync('sh', ['-c', 'command -v script']).status !== 0)
      return context.skip('there is no `script` to make a terminal with')
    const through = ['sh', '-c', 'script -qec "$*" /dev/null', 'sh']
    const coloured = await call('runs show', { through })
    expect([coloured.code, coloured.stdout.includes(ESCAPE)]).toEqual([3, true])
    const plain = await call('runs show', { through, env: { NO_COLOR: '1' } })
    expect([plain.code, plain.stdout]).toEqual([3, expect.stringContaining('NOT_FOUND')])
    expect(plain.stdout).not.toContain(ESCAPE)
  })
})
