/** Processes that serve: found by other commands, killed, restarted, stopped, reloaded. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PROJECT } from '#test/support/places.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'
import { until } from '#test/support/until.ts'

const DEV = ['dev', '--port', '0']
let folder: Folder

beforeAll(buildCommand)
beforeEach(() => {
  folder = new Folder({ 'system.ts': SHOP })
})
afterEach(() => folder.remove())

const traces = (): readonly string[] => {
  const file = join(folder.path, 'trace.txt')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

const serverFile = (): string => join(folder.path, '.trihand/server.json')

describe('dev', () => {
  test('other commands find the server, send through it, and see the run end', async () => {
    const server = await folder.serve(DEV)
    const receipt = await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '10s'])
    expect(receipt.results[0].status).toBe('success')
    const page = await (await fetch(server.url)).text()
    expect(page).toMatch(/<script type="module".* src="\/assets\/[^"]+\.js"/)
    expect((await folder.run(['verify'])).code).toBe(0)
    await until(
      () => server.stdout,
      (text) => text.includes('"text":"completed"'),
      { what: 'it says so' },
    )
  })

  test('writes its address to a file that only its owner can read, and deletes it when it stops', async () => {
    const server = await folder.serve(DEV)
    expect(JSON.parse(readFileSync(serverFile(), 'utf8'))).toMatchObject({ url: server.url, pid: expect.any(Number) })
    expect(statSync(serverFile()).mode & 0o777).toBe(0o600)
    expect(await server.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(serverFile())).toBe(false)
  })

  test('[R1][R11] after kill -9 a restart continues the run, and completed steps are not repeated', async () => {
    folder.write('slow-glue.txt', '')
    const first = await folder.serve(DEV)
    const { runs } = await folder.json(['send', 'order.placed', '{"id":"a"}'])
    const show = () => folder.json(['runs', 'show', runs[0]])
    // The step's trace alone is not enough: a step that was performed but not yet written is performed again.
    await until(show, ({ status }) => status === 'waiting' || status === 'success', { what: 'the first step is done' })
    await first.kill()
    await folder.serve(DEV)
    const run = await until(show, (found) => found.status === 'success', { what: 'the run ends after the restart' })
    expect(run.output).toEqual({ weight: 7 })
    expect(traces()).toEqual(['box'])
    expect((await folder.run(['verify'])).code).toBe(0)
  })

  test('commands ignore the address file of a killed server', async () => {
    const server = await folder.serve(DEV)
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    await server.kill()
    expect(existsSync(serverFile())).toBe(true)
    expect((await folder.json(['runs', 'list'])).items).toHaveLength(1)
  })

  test('commands ignore an address file whose port now belongs to another server', async () => {
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    const other = new Folder({ 'system.ts': SHOP })
    const { url } = await other.serve(DEV)
    folder.write('.trihand/server.json', JSON.stringify({ url, pid: 1, ledger: null }))
    const { items } = await folder.json(['runs', 'list'])
    await other.remove()
    expect(items).toHaveLength(1)
  })

  test('a second server on the same ledger is refused, and the first one continues', async () => {
    await folder.serve(DEV)
    const { code, stdout, stderr } = await folder.run(DEV)
    expect([code, stdout]).toEqual([6, ''])
    expect(stderr).toMatch(
      /^LEDGER_IN_USE another process has .*trihand\.db open: the server at http:\S+, process \d+\n.*Connect to that process over HTTP, or stop it\.\n$/,
    )
    const receipt = await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '10s'])
    expect(receipt.results[0].status).toBe('success')
  })

  test('a requested port that is in use is reported', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    )
    const { code, stderr } = await folder.run(['dev', '--port', String(port)])
    other.close()
    expect([code, stderr]).toEqual([6, expect.stringMatching(`^PORT_IN_USE port ${port} is in use by another process`)])
    expect(existsSync(serverFile())).toBe(false)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('%s lets the active step finish, and ends with 0', async (signal) => {
    const server = await folder.serve(DEV)
    await folder.json(['send', 'order.slow'])
    await until(traces, (lines) => lines.includes('lift'), { what: 'the step is at work' })
    expect(await server.stop(signal)).toMatchObject({ code: 0 })
    expect(traces()).toEqual(['lift', 'down'])
    expect((await folder.json(['runs', 'list'])).items[0].status).toBe('success')
  })

  test('a second Ctrl+C does not wait, and nothing is lost', async () => {
    folder.write('heavy.txt', '')
    const server = await folder.serve(DEV)
    await folder.json(['send', 'order.slow'])
    await until(traces, (lines) => lines.includes('lift'), { what: 'the step is at work' })
    let isOver = false
    const ended = server.ended.then((end) => {
      isOver = true
      return end
    })
    await until(
      () => server.signal('SIGINT'),
      () => isOver,
      { what: 'it ends' },
    )
    expect((await ended).code).toBe(130)
    expect((await folder.run(['verify'])).code).toBe(0)
  })

  test('a changed source is loaded without a restart; a broken one is reported and changes nothing', async () => {
    const server = await folder.serve(DEV)
    folder.write('system.ts', SHOP.replaceAll('order.lost', 'order.gone'))
    const sent = await until(
      () => folder.run(['send', 'order.gone']),
      ({ code }) => code === 0,
      { what: 'the new event is known' },
    )
    expect(sent.stdout).toContain('search')
    folder.write('system.ts', SHOP.replace('defineSystem({', 'defineSystem({{'))
    await until(
      () => server.stderr,
      (text) => text.includes('LOAD_FAILED'),
      { what: 'the broken source is told' },
    )
    expect((await folder.run(['send', 'order.gone'])).code).toBe(0)
  })
})

describe('the example hello', () => {
  const HELLO = ['dev', join(PROJECT, 'examples/hello'), '--port', '0']

  test('greets, waits for an answer over a restart, and ends with it', async () => {
    const first = await folder.serve(HELLO)
    await folder.json(['send', 'greeting.requested', '{"name":"Ada"}'])
    const waiting = () => folder.json(['runs', 'list', '--status', 'waiting', '--handler', 'greet'])
    const show = (id: string) => folder.json(['runs', 'show', id])
    const { items } = await until(waiting, (page) => page.items.length > 0, { what: 'the greeting waits' })
    await first.kill()
    await folder.serve(HELLO)
    await until(
      () => show(items[0].id),
      (run) => run.waiting_on.some((wait: { step: string }) => wait.step === 'answer'),
      { what: 'it waits for the answer', timeoutMs: 20_000 },
    )
    await folder.json(['send', 'greeting.answered', '{"name":"Ada","text":"Hello yourself"}'])
    const run = await until(
      () => show(items[0].id),
      (found) => found.status === 'success',
      { what: 'the greeting ends' },
    )
    expect(run.output).toMatchObject({ text: 'Hello, Ada!', letters: 8, answer: { text: 'Hello yourself' } })
    const { items: greetings } = await folder.json(['runs', 'list', '--handler', 'greet'])
    expect(greetings).toHaveLength(1)
  })
})

describe('demo', () => {
  const DEMO = ['demo', '--port', '0']

  test('asks a person about a bundle, over a restart, and sends the approved items', async () => {
    const first = await folder.serve(DEMO)
    expect(JSON.parse(first.stdout.split('\n')[0] ?? '')).toMatchObject({ simulated: true })
    const inbox = () => folder.json(['tasks', 'list'])
    const { items } = await until(inbox, (page) => page.items.length > 0, { what: 'the bundle waits' })
    expect(items).toMatchObject([{ type: 'approval', items: 9, assignees: ['group:sales'] }])
    await first.kill()
    await folder.serve(DEMO)
    const who = ['--as', 'ana', '--groups', 'sales']
    const { shown_hash: hash } = await folder.json(['tasks', 'show', items[0].id, ...who])
    const rejected = JSON.stringify({ second: { status: 'rejected' } })
    await folder.json(['tasks', 'decide', items[0].id, 'approve', '--hash', hash, '--items', rejected, ...who])
    const sending = () => folder.json(['runs', 'list', '--handler', 'send-campaign'])
    await until(sending, (page) => page.items.length > 0, { what: 'the mails are sent' })
    expect((await inbox()).items).toEqual([])
  })
  test('ends silently when its output pipe is closed', async () => {
    const { stdout, stderr } = await folder.run(DEMO, { through: ['sh', '-c', '"$@" | head -n 1', 'sh'] })
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^Trihand .*\n$/), ''])
  })

  test('its source type-checks against the published package', () => {
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', join(PROJECT, 'examples')], { encoding: 'utf8' })
    expect(stdout).toBe('')
  })

  test('--fresh starts with an empty ledger, but never while another process uses it', async () => {
    const first = await folder.serve(DEMO)
    await folder.json(['send', 'campaign.requested', '{"campaign_id":"second"}'])
    const inode = () => statSync(join(folder.path, '.trihand/demo.db')).ino
    const before = inode()
    const beside = await folder.run([...DEMO, '--fresh'])
    expect([beside.code, beside.stderr]).toEqual([6, expect.stringMatching(/^LEDGER_IN_USE /)])
    expect(inode()).toBe(before)
    expect((await folder.json(['runs', 'list', '--handler', 'import-leads'])).items).toHaveLength(2)
    await first.stop()
    await folder.serve([...DEMO, '--fresh'])
    const fresh = () => folder.json(['runs', 'list', '--handler', 'import-leads'])
    expect((await until(fresh, ({ items }) => items.length > 0)).items).toHaveLength(1)
  })
})

describe('on Postgres', () => {
  const cluster = process.env['TRIHAND_TEST_PG_URL']
  const name = `trihand_cli_${process.pid}`

  const administer = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: cluster })
    await client.connect()
    await client.query(sql)
    await client.end()
  }

  test('two processes share one ledger, and each sees the runs of the other', async (context) => {
    if (cluster === undefined) return context.skip('no Postgres here')
    const url = new URL(cluster)
    url.pathname = `/${name}`
    const env = { DATABASE_URL: url.href }
    await administer(`create database ${name}`)
    try {
      const [first, second] = [await folder.serve(DEV, { env }), await folder.serve(DEV, { env })]
      const receipt = await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '20s', '--server', first.url])
      const run = await folder.json(['runs', 'show', receipt.runs[0], '--server', second.url])
      expect(run).toMatchObject({ status: 'success', output: { weight: 7 } })
      expect(await folder.json(['verify'], { env })).toMatchObject({ status: 'clean', runs: 2 })
      expect((await first.stop()).code).toBe(0)
      expect((await second.stop()).code).toBe(0)
    } finally {
      await administer(`drop database ${name} with (force)`)
    }
  })
})
