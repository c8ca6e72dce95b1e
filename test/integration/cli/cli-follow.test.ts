/** Verbs that inspect and follow: why and watch for runs; show, tail and replay for events; backup; manifest diff. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'
import { until } from '#test/support/until.ts'

const documents = (text: string): readonly Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

beforeAll(buildCommand, 120_000)

describe('without a server', () => {
  let folder: Folder
  beforeAll(async () => {
    folder = new Folder({ 'system.ts': SHOP })
    await folder.json(['send', 'order.placed', '{"id":"a"}', '--wait', '20s', '--subject', 'a box'])
    await folder.json(['send', 'order.lost'])
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
  })
  afterAll(() => folder.remove())

  const run = async (handler: string): Promise<string> =>
    (await folder.json(['runs', 'list', '--handler', handler])).items[0].id

  test('runs why explains in one sentence why a run does not continue', async () => {
    const id = await run('ship')
    const { code, stdout } = await folder.run(['runs', 'why', id.slice(-8)])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[^\n]*order\.signed[^\n]*\n$/)])
    expect(await folder.json(['runs', 'why', id])).toMatchObject({ id, status: 'waiting', text: stdout.trimEnd() })
    expect((await folder.run(['runs', 'why', 'ffffffff'])).code).toBe(3)
  })

  test('runs watch ends with 0 after a success, 1 after a failure, 8 if no worker performs the run', async () => {
    const good = await folder.run(['runs', 'watch', await run('pack')])
    expect([good.code, good.stdout]).toEqual([0, expect.stringMatching(/ {2}an event started pack\n[\s\S]*success\n$/)])
    expect((await folder.run(['runs', 'watch', await run('search')])).code).toBe(1)
    const open = await folder.run(['runs', 'watch', await run('ship')])
    expect([open.code, open.stderr]).toEqual([8, expect.stringContaining('no server is running here')])
    const facts = documents((await folder.run(['runs', 'watch', await run('pack'), '--json'])).stdout)
    expect(facts[0]).toMatchObject({ type: 'fact', seq: 0 })
    expect(facts.at(-1)).toMatchObject({ type: 'end', status: 'success', output: { weight: 7 } })
    expect((await folder.run(['runs', 'watch', 'ffffffff'])).code).toBe(3)
  })

  test('an event is shown by its number, and replayed under a new id', async () => {
    const { items } = await folder.json(['events', 'list', '--type', 'order.placed'])
    const [event] = items
    const shown = await folder.run(['events', 'show', String(event.sequence)])
    expect(shown.stdout).toContain(`${event.sequence}  order.placed  ${event.id}\n`)
    expect(shown.stdout).toContain('subject     a box\n')
    expect(await folder.json(['events', 'show', String(event.sequence)])).toEqual(event)
    const receipt = await folder.json(['events', 'replay', String(event.sequence), '--wait', '20s'])
    expect(receipt.id).not.toBe(event.id)
    expect(receipt).toMatchObject({ duplicate: false, results: [{ handler: 'pack', status: 'success' }] })
    const again = await folder.json(['events', 'show', String(receipt.sequence)])
    const { type, source, subject, data } = event
    expect(again).toMatchObject({ type, source, subject, data })
  })

  test('[A6] a delayed event keeps no command waiting, is listed, and can be cancelled', async () => {
    const later = "import { fn } from 'trihand'\nexport default { name: 'later', events: { ping: null }, functions: [\n"
    const remind = "  fn('remind', {}, ({ emit }) => emit('ping', { n: 1 }, { delay: '1h' })),\n] }\n"
    const other = new Folder({ 'system.ts': later + remind })
    // Without --wait the command takes as long as work is active; a command that hangs fails the test.
    await other.json(['start', 'remind'])
    const { items } = await other.json(['events', 'list', '--delayed'])
    expect(items).toEqual([expect.objectContaining({ type: 'ping', data: { n: 1 } })])
    const taken = await other.run(['events', 'cancel', items[0].id.slice(-8)])
    expect([taken.code, taken.stdout]).toEqual([0, `ping ${items[0].id} is cancelled\n`])
    const none = await other.run(['events', 'list', '--delayed'])
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('No events are scheduled.')])
    await other.remove()
  })

  test('an unknown event ends with 3, an invalid number with 2', async () => {
    for (const verb of ['show', 'replay']) {
      const absent = await folder.run(['events', verb, '999999'])
      expect([absent.code, absent.stderr]).toEqual([3, expect.stringContaining('event number 999999 does not exist')])
      const wrong = await folder.run(['events', verb, 'evt_1'])
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('events list')])
    }
  })

  test('tail needs a server, and says so if there is none', async () => {
    const { code, stderr } = await folder.run(['events', 'tail'])
    expect([code, stderr]).toEqual([6, expect.stringContaining('no new events can arrive')])
  })

  test('a backup is a ledger: it passes verify, answers queries, and is never overwritten', async () => {
    const { file, bytes } = await folder.json(['backup', 'copy.db'])
    expect([file, bytes]).toEqual(['copy.db', expect.any(Number)])
    expect(await folder.json(['verify', '--file', 'copy.db'])).toMatchObject({ status: 'clean' })
    const runs = await folder.json(['runs', 'list'])
    expect(await folder.json(['runs', 'list', '--database', 'copy.db'])).toEqual(runs)
    const again = await folder.run(['backup', 'copy.db'])
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('copy.db exists; name a new file')])
  })

  test.each([
    [['--database', 'postgres://127.0.0.1/x'], 'pg_dump'],
    [['--database', 'memory:'], 'in memory'],
    [['--database', 'nowhere.db'], 'the ledger nowhere.db does not exist'],
  ])('a backup of %j is refused with 2', async (flags, words) => {
    const { code, stderr } = await folder.run(['backup', 'other.db', ...flags])
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
  })
})

describe('beside a server', () => {
  let folder: Folder
  let server: Server
  beforeAll(async () => {
    folder = new Folder({ 'system.ts': SHOP })
    server = await folder.serve(['dev', '--port', '0'])
    await folder.json(['send', 'order.paid', '{"id":"a"}'])
    await folder.json(['send', 'order.lost'])
  })
  afterAll(() => folder.remove())

  test('a run is watched to its end', async () => {
    const { runs } = await folder.json(['send', 'order.paid', '{"id":"b"}'])
    const watched = folder.run(['runs', 'watch', runs[0], '--json'], { apart: true })
    await folder.json(['runs', 'cancel', runs[0]])
    const { code, stdout } = await watched
    expect([code, documents(stdout).at(-1)]).toEqual([1, expect.objectContaining({ type: 'end', status: 'cancelled' })])
  })

  test('watch waits no longer than its time limit', async () => {
    const { items } = await folder.json(['runs', 'list', '--status', 'waiting'])
    expect((await folder.run(['runs', 'watch', items[0].id, '--wait', '1ms'])).code).toBe(8)
  })

  test('tail shows events oldest first, of one type, and ends after a count or a time', async () => {
    const all = await folder.run(['events', 'tail', '--after', '0', '--count', '2', '--json'])
    expect([all.code, documents(all.stdout).map(({ type }) => type)]).toEqual([0, ['order.paid', 'order.lost']])
    const lost = await folder.run(['events', 'tail', '--after', '0', '--type', 'order.lost', '--count', '1'])
    expect([lost.code, lost.stdout]).toEqual([0, expect.stringMatching(/^\d+ {2}\S+ {2}order\.lost {2}[^\n]*\n$/)])
    expect(await folder.run(['events', 'tail', '--wait', '1ms'])).toMatchObject({ code: 8, stdout: '' })
  })

  test('Ctrl+C ends a tail with 130', async () => {
    const tail = folder.launch(['events', 'tail', '--after', '0'])
    await until(
      () => tail.stdout,
      (text) => text.includes('order.lost'),
      { what: 'the tail speaks', timeoutMs: 30_000 },
    )
    expect((await tail.stop('SIGINT')).code).toBe(130)
  })

  test('a backup is made while the server works, and contains everything acknowledged', async () => {
    await folder.json(['backup', 'copy.db'])
    expect(await folder.json(['verify', '--file', 'copy.db'])).toMatchObject({ status: 'clean' })
    const { items } = await folder.json(['events', 'list', '--database', 'copy.db', '--type', 'order.lost'])
    expect(items).toHaveLength(1)
    expect(server.stderr).toBe('')
  })
})

describe('manifest diff', () => {
  let folder: Folder
  const text = (name: string, type: string): string =>
    `product: { name: ${name} }\nevents:\n  definitions:\n    - name: ${type}\n      payload: { id: string }\n`
  beforeEach(() => {
    folder = new Folder({ 'old.yaml': text('shop', 'order.placed'), 'new.yaml': text('shop', 'order.sent') })
  })
  afterEach(() => folder.remove())

  test('reports each difference with its place, and ends with 1', async () => {
    const { code, stdout } = await folder.run(['manifest', 'diff', 'old.yaml', 'new.yaml'])
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /^- events\.definitions\[order\.placed\]: .*\n\+ events\.definitions\[order\.sent\]: .*\n$/,
      ),
    ])
    const { code: same } = await folder.run(['manifest', 'diff', 'old.yaml', 'old.yaml'])
    expect(same).toBe(0)
    const as = JSON.parse((await folder.run(['manifest', 'diff', 'old.yaml', 'new.yaml', '--json'])).stdout)
    expect(as.differences).toMatchObject([{ kind: 'removed' }, { kind: 'added' }])
  })

  test('reports a manifest that does not load, and ends with 4', async () => {
    folder.write('bad.yaml', 'product: [')
    const { code, stderr } = await folder.run(['manifest', 'diff', 'old.yaml', 'bad.yaml'])
    expect([code, stderr]).toEqual([4, expect.stringContaining('bad.yaml:')])
  })
})
