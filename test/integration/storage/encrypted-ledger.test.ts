/** `TRIHAND_LEDGER_KEY`: no payload is readable in the database, and every interface reads it decrypted. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Target, verifyLedger } from '#cli/verify/verify.ts'
import { fn } from '#executors/workflow/function.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { SHOP } from '#test/support/shop.ts'
import { placeOf, postgresUrl, targetOn } from '#test/support/stores/ledger-target.ts'
import { changeFacts, swapEvents, tamper } from '#test/support/stores/raw-ledger.ts'
import { until } from '#test/support/until.ts'

const KEY = 'a-ledger-key-of-a-test-forty-characters!'
const OTHER = 'another-ledger-key-of-a-test-as-long-!!!'
const SECRET = 'SECRETMARKER'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-encrypted-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A secret in every place that a payload can be: events, results, large results, waits, tasks, errors, why a trigger did not fire. */
const order = fn('order', { trigger: 'order.placed' }, async ({ input, step }) => {
  const { customer } = input as { readonly customer: string }
  const large = await step.run('large', () => `${customer} `.repeat(10_000))
  const paid = await step.waitForEvent('paid', { event: 'order.paid', match: 'payload.customer', timeout: '1d' })
  const { decision } = await step.human('check', { assign: 'group:editors', title: `Ship to ${customer}?` })
  return { customer, decision, large: large.length, paid: paid.status }
})
const picky = fn('picky', { trigger: { event: 'order.placed', filter: 'event.data.customer == "nobody"' } }, () => 1)
const broken = fn('broken', { retry: { maxAttempts: 1 } }, () => {
  throw new Error(`no such ${SECRET}`)
})
const system = {
  name: 'encrypted',
  events: { 'order.placed': null, 'order.paid': null },
  functions: [order, picky, broken],
}

const open = (target: Target, ledgerKey: string): Promise<HttpApp> => {
  return openApp(system, undefined, { ...placeOf(target), ledgerKey, sealKey: '', drain: 0 })
}

/** The whole content of the database, as text. */
const everything = async (target: Target): Promise<string> => {
  if ('file' in target)
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('\n')
  const texts: string[] = []
  await tamper(target, async ({ query }) => {
    const tables = await query('select tablename from pg_tables where schemaname = $1', target.schema ?? '')
    for (const { tablename } of tables)
      texts.push(...(await query(`select t::text as row from ${tablename} t`)).map(({ row }) => String(row)))
  })
  return texts.join('\n')
}

const ANA = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors' }

/** Runs an order up to its task. */
const placed = async (app: HttpApp): Promise<string> => {
  const run = await app.started('order.placed', { customer: SECRET, items: [{ name: SECRET }] })
  await app.when(run, 'waiting')
  await app.post('/api/events', { type: 'order.paid', data: { customer: 'somebody else' } })
  await app.post('/api/events', { type: 'order.paid', data: { customer: SECRET } })
  return run
}

const theTask = async (app: HttpApp): Promise<{ id: string; title: string; shown_hash: string }> => {
  const { body } = await until(
    () => app.ask('/api/tasks', { headers: ANA }),
    (answer) => answer.body.items.length > 0,
  )
  return (await app.ask(`/api/tasks/${body.items[0].id}`, { headers: ANA })).body
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (store) => {
  const isAway = store === 'postgres' && postgresUrl === undefined

  test.skipIf(isAway)(
    '[S16] vault-1: no payload is in the database, and every interface reads it decrypted (13.3.2)',
    async () => {
      const target = await targetOn(store, folder)
      const app = await open(target, KEY)
      const run = await placed(app)
      const task = await theTask(app)
      expect(task.title).toBe(`Ship to ${SECRET}?`)
      const failed = await app.trihand.start('broken')
      expect((await app.trihand.result(failed, { wait: '10s' })).error?.message).toContain(SECRET)
      expect(await everything(target)).not.toContain(SECRET)

      const { status } = await app.post(
        `/api/tasks/${task.id}/decision`,
        { action: 'approve', shown_hash: task.shown_hash },
        ANA,
      )
      expect(status).toBe(200)
      const ended = await app.trihand.result(run as RunId, { wait: '10s' })
      expect(ended).toMatchObject({ status: 'success', output: { customer: SECRET, large: 130_000, paid: 'received' } })
      const events = await app.ask('/api/events?type=order.placed')
      expect(events.text).toContain(SECRET)
      expect((await app.ask(`/api/runs/${run}/facts`)).text).toContain(SECRET)
      await app.close()
      const text = await everything(target)
      expect(text).not.toContain(SECRET)
      expect(text).toContain('enc1:')
      expect((await verifyLedger(target, { ledgerKey: KEY })).violations).toEqual([])
    },
  )

  test.skipIf(isAway)(
    '[S16] the ledger opens only with its key, and still with a newer key before it (13.3.2)',
    async () => {
      const target = await targetOn(store, folder)
      const first = await open(target, KEY)
      const run = await first.started('order.placed', { customer: SECRET })
      await first.when(run, 'waiting')
      await first.close()
      await expect(open(target, '')).rejects.toMatchObject({ code: 'LEDGER_KEY_MISSING' })
      await expect(open(target, OTHER)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
      await expect(open(target, 'short')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
      await expect(verifyLedger(target)).rejects.toThrow('set TRIHAND_LEDGER_KEY')
      await expect(verifyLedger(target, { ledgerKey: OTHER })).rejects.toThrow('set TRIHAND_LEDGER_KEY')

      // A wait that was opened under the old key is matched by an event under the new one.
      const second = await open(target, `${OTHER},${KEY}`)
      await second.post('/api/events', { type: 'order.paid', data: { customer: SECRET } })
      expect((await theTask(second)).title).toContain(SECRET)
      await second.close()
      expect((await verifyLedger(target, { ledgerKey: `${OTHER},${KEY}` })).violations).toEqual([])
      await expect(open(target, KEY)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
    },
  )

  test.skipIf(isAway)('[S16] a payload that was changed or moved is never used (13.3.2)', async () => {
    const target = await targetOn(store, folder)
    const first = await open(target, KEY)
    const [run, other] = [
      await first.started('order.placed', { customer: SECRET }),
      await first.started('order.placed', { customer: 'b' }),
    ]
    for (const one of [run, other]) await first.when(one, 'waiting')
    await first.close()
    await tamper(target, async (raw) => {
      await changeFacts(raw, run, 'enc1:', 'enc1: ')
      await swapEvents(raw, 'order.placed', ['data', 'data_hash'])
    })
    const found = (await verifyLedger(target, { ledgerKey: KEY })).violations
    expect(found).toContainEqual(expect.objectContaining({ id: 'V3', stream: run, seq: 0 }))
    expect(found.filter(({ sentence }) => sentence.includes('the data of event'))).toHaveLength(2)
    const second = await open(target, KEY)
    await second.post('/api/events', { type: 'order.paid', data: { customer: SECRET } })
    const result = await second.trihand.result(run as RunId, { wait: '10s' })
    expect(result).toMatchObject({ status: 'quarantined', error: { code: 'FACT_BROKEN' } })
    // Its facts are intact; the event that started it is not.
    await second.post('/api/events', { type: 'order.paid', data: { customer: 'b' } })
    const moved = await second.trihand.result(other as RunId, { wait: '10s' })
    expect(moved).toMatchObject({ status: 'quarantined', error: { code: 'FACT_BROKEN' } })
    expect(moved.error?.message).toContain('cannot be decrypted')
    const innocent = await second.started('order.placed', { customer: 'c' })
    await second.post('/api/events', { type: 'order.paid', data: { customer: 'c' } })
    expect((await theTask(second)).title).toBe('Ship to c?')
    expect((await second.ask(`/api/runs/${innocent}`)).body.status).toBe('waiting')
    expect((await second.ask('/api/events?type=order.placed')).body).toMatchObject({ code: 'PAYLOAD_BROKEN' })
    await second.close()
  })
})

describe('the command line', () => {
  beforeAll(buildCommand)

  test('[S16] reads an encrypted ledger with the key, and reports a missing key (13.3.2)', async () => {
    const place = new Folder({ 'system.ts': SHOP })
    onTestFinished(() => place.remove())
    const env = { TRIHAND_LEDGER_KEY: KEY }
    const sent = await place.run(['send', 'order.paid', `{"id":"${SECRET}"}`, '--json'], { env })
    expect(sent.code).toBe(0)
    const listed = await place.run(['events', 'list', '--json'], { env })
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(SECRET)])
    const database = readdirSync(join(place.path, '.trihand'))
      .filter((name) => name.startsWith('trihand.db'))
      .map((name) => readFileSync(join(place.path, '.trihand', name), 'latin1'))
    expect(database.join()).not.toContain(SECRET)
    expect((await place.run(['verify'], { env })).code).toBe(0)
    const without = await place.run(['events', 'list'])
    expect([without.code === 0, without.stderr]).toEqual([false, expect.stringContaining('LEDGER_KEY_MISSING')])
    const wrong = await place.run(['events', 'list'], { env: { TRIHAND_LEDGER_KEY: OTHER } })
    expect(wrong.stderr).toContain('LEDGER_KEY_WRONG')
    const blind = await place.run(['verify'])
    expect([blind.code, blind.stderr]).toEqual([2, expect.stringContaining('TRIHAND_LEDGER_KEY')])
  })
})
