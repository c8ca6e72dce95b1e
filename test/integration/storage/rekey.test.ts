/**
 * A change of the ledger key encrypts every payload again beside active waits and runs; it can be interrupted anywhere and leaves nothing
 * unreadable.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { readKeys } from '#adapters/system/keys.ts'
import { type Target, verifyLedger } from '#cli/verify/verify.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { ledgerChoice } from '#compose/config.ts'
import { type RekeyOptions, rekeyLedger } from '#compose/rekey.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { SHOP } from '#test/support/shop.ts'
import { placeOf, postgresUrl, targetOn } from '#test/support/stores/ledger-target.ts'
import { changeFacts, tamper } from '#test/support/stores/raw-ledger.ts'
import { until } from '#test/support/until.ts'

const OLD = 'the-old-ledger-key-of-a-test-forty-chars'
const NEW = 'the-new-ledger-key-of-a-test-forty-chars'
const BOTH = `${NEW},${OLD}`
const MARKER = 'SECRETMARKER'
const idOf = (secret: string): string => readKeys('TRIHAND_LEDGER_KEY', secret)[0]?.id ?? ''

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-rekey-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const order = fn('order', { trigger: 'order.placed' }, async ({ input, step }) => {
  const { customer } = input as { readonly customer: string }
  const large = await step.run('large', () => `${customer} `.repeat(10_000))
  const paid = await step.waitForEvent('paid', { event: 'order.paid', match: 'payload.customer', timeout: '1d' })
  return { customer, large: large.length, paid: paid.status }
})
const picky = fn('picky', { trigger: { event: 'order.paid', filter: 'event.data.nothing == 1' } }, () => 1)
const asked = fn('asked', {}, ({ step }) => step.human('check', { assign: 'ana', title: `Ship to ${MARKER}?` }))
const system = { name: 'rekey', events: { 'order.placed': null, 'order.paid': null }, functions: [order, picky, asked] }

const open = (target: Target, ledgerKey: string): Promise<Trihand> =>
  createTrihand({ system, ...placeOf(target), ledgerKey, sealKey: '', drain: 0 })

const rekey = (target: Target, ledgerKey: string, onProgress?: RekeyOptions['onProgress']) => {
  const { database, ...place } = placeOf(target)
  const keys = { ledgerKey, sealKey: '', environment: {} }
  return rekeyLedger({ choice: ledgerChoice(database), ...place, ...keys, ...(onProgress && { onProgress }) })
}

const waiting = (app: Trihand, count: number): Promise<unknown> =>
  until(
    async () => (await app.reader.counts(LOCAL_TENANT)).get('waiting') ?? 0,
    (found) => found >= count,
  )

const placed = async (app: Trihand, customer: string): Promise<RunId> => {
  const { runs } = await app.send({ type: 'order.placed', data: { customer } })
  return runs[0] as RunId
}

/** A ledger with runs that wait for their own value, a task, events, reasons, documents and blobs. */
const ledgerWith = async (target: Target, count: number): Promise<readonly RunId[]> => {
  const app = await open(target, OLD)
  const runs: RunId[] = []
  for (let i = 0; i < count; i++) runs.push(await placed(app, `${MARKER} ${i}`))
  await app.start('asked')
  await app.send({ type: 'order.paid', data: { customer: `${MARKER} of nobody` } })
  await waiting(app, count + 1)
  await app.close()
  return runs
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

/** Everything but the rows of live workers. */
const ledgerRows = async (target: Target): Promise<string> => {
  const texts: string[] = []
  await tamper(target, async ({ query }) => {
    for (const table of ['stream', 'fact', 'event', 'document', 'wait', 'task', 'blob'])
      texts.push(JSON.stringify(await query(`select * from ${table}`)))
  })
  return texts.join('\n')
}

describe.each(['sqlite', 'postgres'] as const)('on %s', (store) => {
  const isAway = store === 'postgres' && postgresUrl === undefined

  test.skipIf(isAway)(
    '[S16] rekey-2: after a change of keys nothing needs the old one, and waits by value are still met (13.3.2)',
    async () => {
      const target = await targetOn(store, folder)
      const runs = await ledgerWith(target, 3)
      const report = await rekey(target, BOTH)
      expect(report).toMatchObject({ key: idOf(NEW), broken: 0 })
      expect(Object.keys(report.changed).sort()).toEqual(['blob', 'document', 'event', 'fact', 'suppressed', 'task'])
      const text = await everything(target)
      expect(text).not.toContain(`enc1:${idOf(OLD)}`)
      expect(text).not.toContain(MARKER)
      await expect(open(target, OLD)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
      expect((await verifyLedger(target, { ledgerKey: NEW })).violations).toEqual([])

      const app = await open(target, NEW)
      await app.send({ type: 'order.paid', data: { customer: `${MARKER} 1` } })
      const result = await app.result(runs[1] as RunId, { wait: '10s' })
      expect(result).toMatchObject({ status: 'success', output: { customer: `${MARKER} 1`, large: 150_000 } })
      const others = await Promise.all([runs[0], runs[2]].map((run) => app.reader.run(LOCAL_TENANT, run as RunId)))
      expect(others.map((run) => run?.status)).toEqual(['waiting', 'waiting'])
      expect((await app.reader.tasks({ tenant: LOCAL_TENANT, ...ALL_TASKS }))[0]?.title).toContain(MARKER)
      await app.close()
      expect((await verifyLedger(target, { ledgerKey: NEW })).violations).toEqual([])
    },
  )

  test.skipIf(isAway)(
    '[S16] rekey-1: a change of keys that is interrupted at any page leaves a readable ledger, and continues when it is called again (13.3.2)',
    async () => {
      const target = await targetOn(store, folder)
      await ledgerWith(target, 2)
      let pages = 0
      // Each call processes one page more than the one before.
      for (let allowed = 0; ; allowed++) {
        let seen = 0
        const cut = rekey(target, BOTH, ({ changed }) => {
          expect(changed).toBeLessThanOrEqual(200)
          if (seen++ >= allowed) throw new Error('cut off')
        })
        const outcome = await cut.catch((error: Error) => error)
        if (!(outcome instanceof Error)) break
        expect(outcome.message).toBe('cut off')
        expect((await verifyLedger(target, { ledgerKey: BOTH })).violations).toEqual([])
        if (pages++ > 0) continue
        await expect(open(target, OLD)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
        await expect(open(target, NEW)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
        await expect(open(target, `${OLD},${NEW}`)).rejects.toThrow('put this key first')
      }
      expect(pages).toBeGreaterThan(0)
      expect(await everything(target)).not.toContain(`enc1:${idOf(OLD)}`)
      expect((await verifyLedger(target, { ledgerKey: NEW })).violations).toEqual([])
    },
  )

  test.skipIf(isAway)(
    '[S16] rekey-3: a payload that cannot be decrypted stays as it is, and keeps the old key (13.3.2)',
    async () => {
      const target = await targetOn(store, folder)
      const [run = ''] = await ledgerWith(target, 2)
      await tamper(target, (raw) => changeFacts(raw, run, ':', ':A'))
      expect((await rekey(target, BOTH)).broken).toBeGreaterThan(0)
      await expect(open(target, NEW)).rejects.toMatchObject({ code: 'LEDGER_KEY_WRONG' })
      await (await open(target, BOTH)).close()
    },
  )

  test.skipIf(isAway)('[S16] a key that is missing, wrong or too short writes nothing (13.3.2)', async () => {
    const target = await targetOn(store, folder)
    await ledgerWith(target, 1)
    const before = await ledgerRows(target)
    const cases = [
      ['', 'LEDGER_KEY_MISSING'],
      [NEW, 'LEDGER_KEY_WRONG'],
      ['short', 'CONFIG_INVALID'],
      [`${OLD},short`, 'CONFIG_INVALID'],
      [`${OLD},${OLD}`, 'CONFIG_INVALID'],
    ] as const
    for (const [key, code] of cases) {
      await expect(open(target, key)).rejects.toMatchObject({ code })
      await expect(rekey(target, key)).rejects.toMatchObject({ code })
    }
    expect(await ledgerRows(target)).toBe(before)
  })

  test.skipIf(isAway)('[S16] an unencrypted ledger is not rekeyed, and stays as it is (13.3.2)', async () => {
    const target = await targetOn(store, folder)
    await (await open(target, '')).close()
    const before = await ledgerRows(target)
    await expect(rekey(target, NEW)).rejects.toThrow('the ledger is not encrypted')
    await expect(open(target, NEW)).rejects.toMatchObject({ code: 'LEDGER_NOT_SEALED' })
    expect(await ledgerRows(target)).toBe(before)
  })
})

const ALL_TASKS = {
  ...{ isOpen: true, addresses: null, viewer: null, status: null, type: null, claimedBy: null, run: null },
  order: 'newest',
  ...{ after: null, limit: 10 },
} as const

test.skipIf(postgresUrl === undefined)(
  '[S16] vault-3: a process without the newer key leaves runs to one that has it, and quarantines none (13.3.2)',
  async () => {
    const target = await targetOn('postgres', folder)
    const old = await open(target, OLD)
    const early = await placed(old, 'early')
    await waiting(old, 1)
    const fresh = await open(target, BOTH)
    await expect(rekey(target, BOTH)).rejects.toMatchObject({ code: 'LEDGER_IN_USE' })
    const late = await placed(fresh, 'late')
    await waiting(fresh, 2)
    // Both runs succeed, whichever process is woken.
    for (const customer of ['late', 'early']) await fresh.send({ type: 'order.paid', data: { customer } })
    for (const run of [late, early])
      expect(await fresh.result(run, { wait: '30s' })).toMatchObject({
        status: 'success',
        output: { paid: 'received' },
      })
    await old.close()
    await fresh.close()
    expect((await verifyLedger(target, { ledgerKey: BOTH })).violations).toEqual([])
  },
)

describe('the command line', () => {
  beforeAll(buildCommand)

  test('[S16] trihand rekey, killed in the middle and called again, ends with the new key alone (13.3.2)', async () => {
    const place = new Folder({ 'system.ts': SHOP })
    onTestFinished(() => place.remove())
    for (let i = 0; i < 3; i++)
      await place.json(['send', 'order.paid', `{"id":"${MARKER} ${i}"}`], { env: { TRIHAND_LEDGER_KEY: OLD } })
    const both = { env: { TRIHAND_LEDGER_KEY: BOTH } }
    const killed = place.launch(['rekey'], both)
    await Promise.race([
      until(
        () => killed.stderr,
        (text) => text.includes('changed'),
      ),
      killed.ended,
    ])
    await killed.kill()
    expect((await place.run(['verify'], both)).code).toBe(0)
    const again = await place.json(['rekey'], both)
    expect(again).toMatchObject({ key: idOf(NEW), broken: 0 })
    const env = { TRIHAND_LEDGER_KEY: NEW }
    expect((await place.run(['events', 'list', '--json'], { env })).stdout).toContain(MARKER)
    expect((await place.run(['verify'], { env })).code).toBe(0)
    // A backup is encrypted like its ledger.
    await place.json(['backup', 'copy.db'], { env })
    expect(readFileSync(join(place.path, 'copy.db'), 'latin1')).not.toContain(MARKER)
    expect((await place.run(['verify', '--file', 'copy.db'], { env })).code).toBe(0)
    const blind = await place.run(['verify', '--file', 'copy.db'])
    expect([blind.code, blind.stderr]).toEqual([2, expect.stringContaining('TRIHAND_LEDGER_KEY')])
    const without = await place.run(['rekey'])
    expect([without.code === 0, without.stderr]).toEqual([false, expect.stringContaining('LEDGER_KEY_MISSING')])
  })
})
