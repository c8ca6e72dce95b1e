/** An attacker who can write the database: which attacks are detected without a key, with a seal key, and with an anchor kept elsewhere. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Target, verifyLedger } from '#cli/verify/verify.ts'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT, type RunId } from '#model/kernel/ids.ts'
import { placeOf, postgresUrl, targetOn } from '#test/support/stores/ledger-target.ts'
import {
  changeFacts,
  deleteRun,
  type RawLedger,
  recompute,
  swapEvents,
  tamper,
} from '#test/support/stores/raw-ledger.ts'
import { until } from '#test/support/until.ts'

const KEY = 'a-seal-key-of-a-test-forty-characters!!!'
const NEW_KEY = 'another-seal-key-of-a-test-also-as-long!'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trihand-tampered-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const paid: unknown[] = []
/** Digits that no id and no instant of the run's facts contains by chance. */
const AMOUNT = '7654321012'

const pay = fn('pay', {}, async ({ step }) => {
  const amount = await step.run('amount', () => Number(AMOUNT))
  await step.waitForEvent('go', { event: 'go', timeout: '1d' })
  return step.run('pay', () => paid.push(amount))
})
const system = { name: 'tampered', events: { go: null, order: null }, functions: [pay] }

const open = (target: Target, sealKey = ''): Promise<Trihand> => {
  return createTrihand({ system, ...placeOf(target), sealKey, drain: 0 })
}

/** A ledger with two waiting runs and two events that start nothing. */
const ledgerWith = async (target: Target, sealKey: string): Promise<RunId> => {
  const app = await open(target, sealKey)
  const run = await app.start('pay')
  await app.start('pay')
  await app.send({ type: 'order', id: 'first', data: { amount: 1 } })
  await app.send({ type: 'order', id: 'second', data: { amount: 2 } })
  await until(
    async () => (await app.reader.counts(LOCAL_TENANT)).get('waiting') ?? 0,
    (count) => count >= 2,
  )
  await app.close()
  return run
}

const seenBy = async (target: Target, sealKey: string, anchor?: string): Promise<readonly string[]> => {
  const { violations } = await verifyLedger(target, {
    ...(sealKey === '' ? {} : { sealKey }),
    ...(anchor === undefined ? {} : { anchor }),
  })
  return [...new Set(violations.map(({ id }) => id))].sort()
}

const cutBack = async (raw: RawLedger, run: string): Promise<void> => {
  await raw.query(`delete from fact where stream = ${raw.key(run)} and seq > 0`)
  await raw.query(`delete from wait where stream = ${raw.key(run)}`)
  const set = `version = 1, status = 'running', head_hash = (select hash from fact where stream = ${raw.key(run)} and seq = 0)`
  await raw.query(
    `update stream set ${set}, wake_at = 1 where ${raw.key(run)} in (${raw.key(run).startsWith('(') ? 'key' : 'id'})`,
  )
}

interface Attack {
  readonly name: string
  readonly attack: (raw: RawLedger, run: RunId) => Promise<void>
  /** What `verify` reports without a key, with the seal key, and with the key and an anchor. */
  readonly seen: readonly [plain: readonly string[], sealed: readonly string[], anchored: readonly string[]]
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'a changed fact',
    attack: (raw, run) => changeFacts(raw, run, AMOUNT, '1000000'),
    seen: [['V3'], ['V3'], ['V3']],
  },
  {
    name: 'a changed fact with every hash recomputed',
    attack: async (raw, run) => {
      await changeFacts(raw, run, AMOUNT, '1000000')
      await recompute(raw, run)
    },
    seen: [[], ['V3'], ['V27', 'V3']],
  },
  { name: 'a deleted run', attack: deleteRun, seen: [[], [], ['V27']] },
  { name: 'a run cut back to its first fact', attack: cutBack, seen: [[], [], ['V27']] },
  {
    name: 'two events with their payloads swapped',
    attack: (raw) => swapEvents(raw, 'order', ['data']),
    seen: [['V3'], ['V3'], ['V3']],
  },
  {
    name: 'two events with payloads and hashes swapped',
    attack: (raw) => swapEvents(raw, 'order', ['data', 'data_hash']),
    seen: [[], ['V3'], ['V3']],
  },
]

describe.each(['sqlite', 'postgres'] as const)('on %s', (store) => {
  const isAway = store === 'postgres' && postgresUrl === undefined

  test.skipIf(isAway).each(ATTACKS)(
    '[O3][S20] anchor-2: verify detects $name with the settings that can detect it (13.3.1)',
    async ({ attack, seen: [plain, sealed, anchored] }) => {
      const unsealed = await targetOn(store, folder)
      const run = await ledgerWith(unsealed, '')
      await tamper(unsealed, (raw) => attack(raw, run))
      expect(await seenBy(unsealed, '')).toEqual(plain)

      rmSync(folder, { recursive: true, force: true })
      const target = await targetOn(store, folder)
      const sealedRun = await ledgerWith(target, KEY)
      const anchor = join(tmpdir(), `trihand-anchor-${process.pid}-${store}`)
      onTestFinished(() => rmSync(anchor, { force: true }))
      expect(await seenBy(target, KEY, anchor)).toEqual([])
      const kept = readFileSync(anchor, 'utf8')
      await tamper(target, (raw) => attack(raw, sealedRun))
      expect(await seenBy(target, KEY)).toEqual(sealed)
      expect(await seenBy(target, KEY, anchor)).toEqual(anchored)
      expect(readFileSync(anchor, 'utf8'), 'an anchor is not replaced by a ledger that has lost something').toBe(kept)
    },
  )

  test.skipIf(isAway)(
    '[S20] a run whose hashes were recomputed is quarantined if there is a seal key (13.3.1)',
    async () => {
      const target = await targetOn(store, folder)
      const run = await ledgerWith(target, KEY)
      await tamper(target, async (raw) => {
        await changeFacts(raw, run, AMOUNT, '1000000')
        await recompute(raw, run)
      })
      paid.length = 0
      const app = await open(target, KEY)
      await app.send({ type: 'go' })
      const result = await app.result(run, { wait: '10s' })
      expect(result).toMatchObject({ status: 'quarantined', error: { code: 'FACT_BROKEN' } })
      expect(result.error?.message).toContain('is not sealed with the seal key')
      await until(
        async () => paid.length,
        (count) => count === 1,
      )
      await app.close()
      expect(paid).toEqual([Number(AMOUNT)])
    },
  )

  test.skipIf(isAway)(
    '[S20] key-record-1: a sealed ledger opens only with its key, and still with a newer key before it (13.3.1)',
    async () => {
      const target = await targetOn(store, folder)
      await ledgerWith(target, KEY)
      await expect(open(target)).rejects.toMatchObject({ code: 'SEAL_KEY_MISSING' })
      await expect(open(target, NEW_KEY)).rejects.toMatchObject({ code: 'SEAL_KEY_WRONG' })
      await expect(open(target, 'too short')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
      await expect(verifyLedger(target)).rejects.toThrow('set TRIHAND_SEAL_KEY')
      const app = await open(target, `${NEW_KEY},${KEY}`)
      const repeated = await app.send({ type: 'order', id: 'first', data: { amount: 1 } })
      expect(repeated).toMatchObject({ duplicate: true })
      const other = app.send({ type: 'order', id: 'first', data: { amount: 3 } })
      await expect(other).rejects.toMatchObject({ code: 'EVENT_ID_REUSED' })
      const fresh = await app.start('pay')
      await app.send({ type: 'go' })
      expect((await app.result(fresh, { wait: '10s' })).status).toBe('success')
      await app.close()
      expect(await seenBy(target, `${NEW_KEY},${KEY}`)).toEqual([])
      expect(await seenBy(target, KEY)).toEqual(['V3'])
    },
  )

  test.skipIf(isAway)('[S20] key-record-2: a ledger with entries from before the key is refused (13.3.1)', async () => {
    const target = await targetOn(store, folder)
    await ledgerWith(target, '')
    await expect(open(target, KEY)).rejects.toMatchObject({ code: 'LEDGER_NOT_SEALED' })
    await (await open(target)).close()
  })
})

test('[S20] anchor-1: an anchor that was changed, or is signed with another key, is refused (13.3.1)', async () => {
  const target = await targetOn('sqlite', folder)
  await ledgerWith(target, KEY)
  const anchor = join(folder, 'heads')
  await expect(verifyLedger(target, { anchor })).rejects.toThrow('set TRIHAND_SEAL_KEY')
  expect((await verifyLedger(target, { sealKey: KEY, anchor })).anchored).toBe(2)
  const kept = readFileSync(anchor, 'utf8')
  const lines = kept.split('\n')
  for (const changed of [
    lines.toSpliced(1, 1).join('\n'),
    `${kept}${lines[1]}\n`,
    lines.slice(0, -2).join('\n'),
    'heads',
  ]) {
    writeFileSync(anchor, changed)
    await expect(verifyLedger(target, { sealKey: KEY, anchor })).rejects.toThrow('restore the anchor from its copy')
  }
  writeFileSync(anchor, kept)
  expect(await seenBy(target, KEY, anchor)).toEqual([])
  await tamper(target, (raw) => raw.query('delete from document').then(() => {}))
  await expect(open(target, KEY)).rejects.toMatchObject({ code: 'LEDGER_NOT_SEALED' })
})
