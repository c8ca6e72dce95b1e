/** The whole checker on ledgers written by hand: a clean ledger passes, an unreadable one is reported, and a concurrent writer is not a fault. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { UnreadableLedger } from '#cli/verify/source/source.ts'
import { aLedger } from '#test/support/judged.ts'
import { writeCleanLedger } from '#test/support/stores/clean-ledger.ts'
import type { LedgerByHand } from '#test/support/stores/ledger-by-hand.ts'
import { fact, started } from '#test/support/stories/run-story.ts'
import { invariants } from './report.ts'
import { verifyLedger } from './verify.ts'

const fileOf = ({ target }: LedgerByHand): string => ('file' in target ? target.file : '')

const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-verify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a clean ledger passes, and every invariant that needs only the ledger was checked', async () => {
  const ledger = await aLedger()
  await writeCleanLedger(ledger)
  const report = await verifyLedger(ledger.target)
  expect(report.violations).toEqual([])
  expect(report).toMatchObject({ runs: 10, sessions: 2, tasks: 2, events: 3 })
  expect(invariants().filter((id) => report.checked[id] === 0)).toEqual(['V1', 'V27'])
})

test('an empty ledger passes', async () => {
  const ledger = await aLedger()
  expect(await verifyLedger(ledger.target)).toMatchObject({ runs: 0, facts: 0, violations: [] })
})

test('report-1: violations beyond the first thousand are counted, not listed', async () => {
  const ledger = await aLedger()
  await ledger.run([started(), ...Array.from({ length: 1_100 }, () => fact('step.completed'))])
  const report = await verifyLedger(ledger.target)
  expect(report.violations).toHaveLength(1_000)
  expect(report.found.V7).toBe(1_099)
})

test('verify-1: an open transaction of another connection is neither seen nor waited for', async () => {
  const ledger = await aLedger()
  await writeCleanLedger(ledger)
  await ledger.sql('begin immediate; update stream set version = version + 1')
  expect((await verifyLedger(ledger.target)).violations).toEqual([])
  await ledger.sql('commit')
  expect((await verifyLedger(ledger.target)).found.V2).toBe(15)
})

test('a copy of the database and its log without the shared memory file is read including the log', async () => {
  const ledger = await aLedger()
  await writeCleanLedger(ledger)
  const copy = join(aFolder(), 'copy.db')
  for (const suffix of ['', '-wal']) copyFileSync(`${fileOf(ledger)}${suffix}`, `${copy}${suffix}`)
  expect(await verifyLedger({ file: copy })).toMatchObject({ runs: 10, violations: [] })
})

test('with a tenant only the streams and events of that tenant are checked', async () => {
  const ledger = await aLedger()
  await ledger.run([started(), fact('run.completed')], { tenant: 'acme' })
  await ledger.event({ tenant: 'acme' })
  await ledger.run([started(), fact('step.completed'), fact('step.completed')], { tenant: 'other' })
  await ledger.event({ tenant: 'other', causation: 'run_00000000000000000000000000000000' })
  expect(await verifyLedger(ledger.target, { tenant: 'acme' })).toMatchObject({ runs: 1, events: 1, violations: [] })
  const { found } = await verifyLedger(ledger.target)
  expect([found.V7, found.V13, found.V16]).toEqual([1, 1, 1])
})

test('verify-2: a file that is not a ledger is unreadable, and the message says why', async () => {
  const folder = aFolder()
  const junk = join(folder, 'junk.db')
  writeFileSync(junk, 'this is not a database, and long enough to be looked at'.repeat(50))
  const empty = join(folder, 'empty.db')
  new DatabaseSync(empty).close()
  writeFileSync(empty, '')
  const cases = [
    { file: join(folder, 'missing.db'), reason: 'the file does not exist' },
    { file: junk, reason: 'file is not a database' },
    { file: empty, reason: 'no such table: trihand_migration' },
  ]
  for (const { file, reason } of cases) {
    const failure = await verifyLedger({ file }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UnreadableLedger)
    expect(String(failure)).toContain(reason)
  }
})

test('verify-2: a schema with an unknown breaking change is unreadable', async () => {
  const ledger = await aLedger()
  await ledger.sql("insert into trihand_migration values (98, 'harmless', 0, 0)")
  expect((await verifyLedger(ledger.target)).violations).toEqual([])
  await ledger.sql("insert into trihand_migration values (99, 'later', 1, 0)")
  await expect(verifyLedger(ledger.target)).rejects.toThrow('schema version 99')
})
