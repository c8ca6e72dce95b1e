/** The verbs of the built command over pipes: output, formats and exit codes. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'

const ESCAPE = '\u001b'
let folder: Folder

beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SHOP })
})
afterEach(() => folder.remove())

const place = (id: string, ...rest: readonly string[]) =>
  folder.json(['send', 'order.placed', JSON.stringify({ id }), ...rest])

describe('send without a server', () => {
  test('the command opens the ledger and performs the runs until none is active', async () => {
    const { code, stdout } = await folder.run(['send', 'order.lost'], { apart: true })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^event evt_[0-9a-f]{32} is stored, number 1\nrun_[0-9a-f]{32} {2}search {2}failed {2}FUNCTION_FAILED: /,
    )
  })

  test('--wait waits for the end: 0 after success, 1 after a failure, 8 after the time limit', async () => {
    const good = await folder.run(['send', 'order.placed', '{"id":"a"}', '--wait', '10s'])
    const bad = await folder.run(['send', 'order.lost', '--wait', '10s'])
    const long = await folder.run(['send', 'order.paid', '{"id":"a"}', '--wait', '300ms'])
    expect([good.code, bad.code, long.code]).toEqual([0, 1, 8])
    expect(good.stdout).toContain('success')
  })

  test('--json prints the receipt and the results as one document', async () => {
    const receipt = await place('a', '--wait', '10s')
    expect(receipt).toMatchObject({ sequence: 1, duplicate: false, suppressed: [] })
    expect(receipt.results).toEqual([
      { id: receipt.runs[0], handler: 'pack', status: 'success', output: { weight: 7 }, error: null },
    ])
  })

  test('data may come from a file or from stdin', async () => {
    folder.write('order.json', '{"id":"from a file"}')
    await folder.json(['send', 'order.placed', '@order.json'])
    await folder.json(['send', 'order.placed', '-'], { stdin: '{"id":"from stdin"}' })
    const { items } = await folder.json(['events', 'list'])
    expect(items.map((event: { data: unknown }) => event.data)).toEqual([{ id: 'from stdin' }, { id: 'from a file' }])
  })

  test('[R2] the same id again is a repeat; with other data it is refused', async () => {
    const first = await place('a', '--id', 'one', '--source', 'till')
    const again = await place('a', '--id', 'one', '--source', 'till')
    expect(again).toMatchObject({ duplicate: true, runs: first.runs })
    const other = await folder.run(['send', 'order.placed', '{"id":"b"}', '--id', 'one', '--source', 'till'])
    expect(other.code).toBe(5)
    expect(other.stderr).toContain('EVENT_ID_REUSED')
  })

  test('--quiet prints only ids', async () => {
    const { stdout } = await folder.run(['send', 'order.placed', '{"id":"a"}', '--quiet'])
    expect(stdout).toMatch(/^run_[0-9a-f]{32}\n$/)
    const listed = await folder.run(['runs', 'list', '--handler', 'pack', '--quiet'])
    expect(listed.stdout).toBe(stdout)
  })
})

describe('verbs that read', () => {
  test('runs are listed, filtered and paged, with whole ids', async () => {
    await place('a', '--wait', '10s')
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    const { stdout } = await folder.run(['runs', 'list'])
    expect(stdout.split('\n').map((line) => line.split(/ +/).slice(1, 3))).toEqual([
      ['ship', 'waiting'],
      ['weigh', 'success'],
      ['pack', 'success'],
      [],
    ])
    const page = await folder.run(['runs', 'list', '--limit', '1'])
    const cursor = /more: trihand runs list --cursor (run_[0-9a-f]{32})/.exec(page.stderr)?.[1] ?? ''
    const next = await folder.json(['runs', 'list', '--limit', '1', '--cursor', cursor])
    expect(next.items[0].handler).toBe('weigh')
    expect((await folder.json(['runs', 'list', '--status', 'waiting'])).items).toHaveLength(1)
  })

  test('a run is shown by its last digits: its waits, its children, and its facts in words', async () => {
    const { runs } = await folder.json(['send', 'order.paid', '{"id":"a"}'])
    const { code, stdout } = await folder.run(['runs', 'show', runs[0].slice(-6)])
    expect(code).toBe(0)
    expect(stdout).toContain(`${runs[0]}  ship  waiting\n`)
    expect(stdout).toMatch(/^waits for sign: an event: order\.signed with id = "a", until /m)
    expect(stdout).toMatch(/^0 {2}\S+ +an event started ship$/m)
    const whole = await folder.json(['runs', 'show', `run_${runs[0].slice(-8)}`])
    expect(whole).toMatchObject({ id: runs[0], status: 'waiting', facts: { next_cursor: null } })
  })

  test('an unknown run ends with 3', async () => {
    await place('a')
    const { code, stdout, stderr } = await folder.run(['runs', 'show', 'ffffffff'])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/^NOT_FOUND there is no run that ends with ffffffff\n/)
  })

  test('a verb that only reads creates no ledger', async () => {
    const { code, stderr } = await folder.run(['runs', 'list'])
    expect(code).toBe(6)
    expect(stderr).toMatch(
      /^SERVER_UNREACHABLE no server is running here, and the ledger \.trihand\/trihand\.db does not exist\n/,
    )
    expect((await folder.run(['runs', 'list'])).code).toBe(6)
  })

  test('verify ends with 0 for a valid ledger, 2 for a missing one', async () => {
    await place('a', '--wait', '10s')
    const clean = await folder.run(['verify'])
    expect([clean.code, clean.stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'No violations.'])
    expect(await folder.json(['verify'])).toMatchObject({ status: 'clean', runs: 2 })
    const absent = await folder.run(['verify', '--file', 'nowhere.db'])
    expect([absent.code, absent.stdout]).toEqual([2, ''])
    expect(absent.stderr).toContain('nowhere.db')
  })
})

describe('commands to a run', () => {
  test('[R12] cancel ends a run, with the reason', async () => {
    const { runs } = await folder.json(['send', 'order.paid', '{"id":"a"}'])
    const run = await folder.json(['runs', 'cancel', runs[0], '--reason', 'no stock'])
    expect(run).toMatchObject({ status: 'cancelled', error: { code: 'RUN_CANCELLED', message: 'no stock' } })
    const again = await folder.run(['runs', 'retry', runs[0], '--wait', '300ms'])
    expect([again.code, again.stdout]).toEqual([8, expect.stringContaining('waiting')])
  })

  test('[G12] pause holds a run until resume, across commands', async () => {
    const { runs } = await folder.json(['send', 'order.paid', '{"id":"held"}'])
    expect(await folder.json(['runs', 'pause', runs[0], '--reason', 'wait for ana'])).toMatchObject({
      status: 'paused',
    })
    expect((await folder.run(['runs', 'why', runs[0]])).stdout).toContain('paused it (wait for ana)')
    expect(await folder.json(['runs', 'resume', runs[0]])).toMatchObject({ status: 'waiting' })
  })

  test('retry restarts a failed run', async () => {
    const { runs } = await folder.json(['send', 'order.lost'])
    folder.write('found.txt', '')
    const { code, stdout } = await folder.run(['runs', 'retry', runs[0], '--wait', '10s'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('success')])
    const twice = await folder.run(['runs', 'retry', runs[0]])
    expect([twice.code, twice.stderr]).toEqual([5, expect.stringContaining('RUN_NOT_FAILED')])
  })

  test('a retry reports which effects it does not repeat, and that it is queued (14.1.1)', async () => {
    const failed = await folder.json(['start', 'settle', '{"id":"a"}'])
    await folder.json(['start', 'settle', '{"id":"slow"}'])
    const shown = await folder.run(['runs', 'retry', failed.id])
    expect([shown.code, shown.stderr]).toEqual([
      0,
      expect.stringMatching(/will not be repeated: book\n.*waits in a queue/s),
    ])
    expect(await folder.json(['runs', 'cancel', failed.id])).toMatchObject({ status: 'cancelled' })
  })

  test('rerun starts a new run from a step, with another input from a file; the old run stays', async () => {
    const old = await folder.json(['start', 'weigh', '{"id":"a"}', '--wait', '10s'])
    const wrong = await folder.run(['runs', 'rerun', old.id, '--from', 'scales'])
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('did you mean scale?')])
    folder.write('other.json', '{"id":"b"}')
    const again = await folder.json([
      'runs',
      'rerun',
      old.id,
      '--from',
      'scale',
      '--input',
      '@other.json',
      '--wait',
      '10s',
    ])
    expect(again).toMatchObject({ handler: 'weigh', status: 'success', output: 7 })
    expect(again.id).not.toBe(old.id)
  })

  test('a callback URL without a signing secret is refused before any run starts', async () => {
    const { code, stderr } = await folder.run(['start', 'weigh', '{}', '--callback', 'https://asker.example'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('TRIHAND_CALLBACK_SECRET')])
  })

  test('[R6] resolve answers the task of an uncertain step, with its confirmation (13.1.6)', async () => {
    const { runs } = await folder.json(['send', 'order.doubtful'])
    const shown = await folder.json(['runs', 'show', runs[0]])
    expect(shown.waiting_on).toEqual([expect.objectContaining({ kind: 'uncertain', step: 'card' })])
    const wrong = await folder.run(['runs', 'resolve', runs[0], 'card', 'perhaps'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('happened, run_again, abort')])
    const { task } = shown.waiting_on[0]
    const { shown_hash } = await folder.json(['tasks', 'show', task])
    const word = ['runs', 'resolve', runs[0], 'card', 'happened', '--result', '{"receipt":12}', '--wait', '10s']
    const who = ['--as', 'ana', '--groups', 'operators', '--hash', shown_hash]
    const alone = await folder.run([...word, '--as', 'ana', '--groups', 'operators'])
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('NOT_A_TERMINAL')])
    const unsaid = await folder.run([...word, ...who, '--confirm', 'no'])
    expect([unsaid.code, unsaid.stderr]).toEqual([4, expect.stringContaining('CONFIRMATION_REQUIRED')])
    expect(await folder.json([...word, ...who, '--confirm', 'card'])).toMatchObject({
      status: 'success',
      output: { receipt: 12 },
    })
  })
})

describe('streams', () => {
  test('output-2: a pipe never gets an escape code, even if colours are forced', async () => {
    await folder.run(['send', 'order.lost'])
    for (const args of [['runs', 'list'], ['events', 'list'], ['verify'], ['runs', 'show', 'x'], ['sned'], []]) {
      const { stdout, stderr } = await folder.run(args, { apart: true })
      expect(stdout + stderr).not.toContain(ESCAPE)
    }
  })

  test('[S21] output-1: control characters in data are printed escaped, also in JSON', async () => {
    const { runs } = await folder.json(['send', 'order.lost', '{"note":"\\u009b31m \\u202e txt"}'])
    const shown = await folder.run(['runs', 'show', runs[0]])
    expect(shown.stdout).toContain('it is not in the \\u001b[31mcellar')
    for (const args of [
      ['events', 'list'],
      ['events', 'list', '--json'],
      ['runs', 'show', runs[0], '--json'],
    ]) {
      const { stdout } = await folder.run(args)
      for (const character of ['\u009b', '\u202e', ESCAPE]) expect(stdout).not.toContain(character)
    }
    const { items } = await folder.json(['events', 'list'])
    expect(items[0].data.note).toBe('\u009b31m \u202e txt')
  })

  test('no command waits for a stdin that stays open', async () => {
    await folder.run(['send', 'order.placed', '{"id":"a"}'], { stdin: 'open' })
    for (const args of [['runs', 'list'], ['verify'], ['--help'], ['runs', 'cancel', 'ffffffff']]) {
      const { code } = await folder.run(args, { stdin: 'open' })
      expect(code).not.toBeNull()
    }
  })

  test('a reader that closes the pipe early causes no error', async () => {
    // More than a pipe holds, so that the early close is noticed.
    folder.write('long.json', JSON.stringify({ id: 'x'.repeat(250_000) }))
    await folder.json(['send', 'order.paid', '@long.json'])
    const { stdout, stderr } = await folder.run(['events', 'list'], { through: ['sh', '-c', '"$@" | head -c 1', 'sh'] })
    expect([stdout, stderr]).toEqual(['1', ''])
  })

  test('with --json an error is a problem document on stderr, and stdout stays empty', async () => {
    await place('a')
    for (const [args, code] of [
      [['runs', 'show', 'ffffffff'], 'NOT_FOUND'],
      [['runs', 'list', '--status', 'x'], 'QUERY_UNKNOWN'],
      [['send', 'order.place', '{}'], 'EVENT_UNKNOWN'],
      [['sned'], 'CONFIG_INVALID'],
    ] as const) {
      const { stdout, stderr } = await folder.run([...args, '--json'])
      expect([stdout, JSON.parse(stderr)]).toEqual([
        '',
        expect.objectContaining({ code, hint: expect.any(String), status: expect.any(Number) }),
      ])
    }
  })
})

describe('settings', () => {
  test('a flag overrides the environment, and the environment overrides .env', async () => {
    folder.write('.env', 'DATABASE_URL=from-env-file.db\nTRIHAND_SLOTS=3\n')
    const ledgerOf = async (args: readonly string[], env = {}): Promise<string> => {
      const { stderr } = await folder.run(['runs', 'list', ...args], { env })
      return /the ledger (\S+) does not exist/.exec(stderr)?.[1] ?? stderr
    }
    expect(await ledgerOf([])).toBe('from-env-file.db')
    expect(await ledgerOf([], { DATABASE_URL: 'from-env.db' })).toBe('from-env.db')
    expect(await ledgerOf(['--database', 'from-flag.db'], { DATABASE_URL: 'from-env.db' })).toBe('from-flag.db')
  })

  test('an unknown setting is refused with the nearest name, from the environment and from .env (13.3.3)', async () => {
    const refusal = 'CONFIG_INVALID TRIHAND_SLOT is not a setting; did you mean TRIHAND_SLOTS?\n'
    const given = await folder.run(['verify'], { env: { TRIHAND_SLOT: '1' } })
    expect([given.code, given.stdout, given.stderr]).toEqual([2, '', expect.stringContaining(refusal)])
    folder.write('.env', 'TRIHAND_SLOT=1\n')
    const written = await folder.run(['verify'])
    expect([written.code, written.stdout, written.stderr]).toEqual([2, '', expect.stringContaining(refusal)])
  })
})

describe('usage', () => {
  test('a bare call shows the help and ends with 2; --help and --version end with 0', async () => {
    const bare = await folder.run([], { apart: true })
    expect([bare.code, bare.stdout]).toEqual([2, ''])
    expect(bare.stderr).toContain('Usage: trihand')
    expect((await folder.run(['--help'])).stdout).toContain('Usage: trihand')
    expect(await folder.run(['--version'], { apart: true })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })

  test.each([
    [['sned', 'order.placed'], 'Did you mean send?'],
    [['runs', 'lst'], 'Did you mean list?'],
    [['send'], "missing required argument 'event'"],
    [['runs', 'list', '--stats', 'failed'], 'Did you mean --status?'],
    [['dev', '--port', '99999'], 'expected 0 to 65535'],
    [['send', 'order.placed', '--wait', 'long'], 'expected a duration like 30s'],
  ])('%j is refused with 2', async (args, words) => {
    const { code, stdout, stderr } = await folder.run(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^CONFIG_INVALID /)
    expect(stderr).toContain(words)
  })

  test('an old version of Node is refused in one sentence, before any other code loads', async () => {
    const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.18.1'})`
    const { code, stdout, stderr } = await folder.run(['runs', 'list'], { node: ['--import', old] })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^trihand needs Node 20\.19, 22\.12 or newer; this is v[\d.]+\.\n$/)
  })
})
