/** A SQLite ledger as a source: rows survive the collector, and a closed source lets the owner's log go. */
import { statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { aLedger } from '#test/support/judged.ts'
import type { LedgerByHand } from '#test/support/stores/ledger-by-hand.ts'
import { fact, started } from '#test/support/stories/run-story.ts'
import { openSqlite } from './sqlite-source.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
/** The collector's finalisers run in a turn of their own. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const fileOf = ({ target }: LedgerByHand): string => ('file' in target ? target.file : '')

test('a query goes on after its statement could have been collected', async () => {
  const ledger = await aLedger()
  await ledger.run([started(), ...Array.from({ length: 20 }, (_, i) => fact('step.completed', { step: `step-${i}` }))])
  const source = openSqlite(fileOf(ledger))
  let rows = 0
  for await (const _ of source.rows('select seq from fact')) {
    rows += 1
    collect()
    await turn()
  }
  await source.close()
  expect(rows).toBe(21)
})

test('a source that was closed holds no snapshot, also before the collector has come', async () => {
  const ledger = await aLedger()
  const source = openSqlite(fileOf(ledger))
  for await (const _ of source.rows('select version from trihand_migration'));
  await source.close()
  await ledger.run([started(), fact('run.completed')])
  // A snapshot before these facts would keep the log from being emptied: SQLITE_BUSY, or a log with bytes in it.
  await ledger.sql('pragma wal_checkpoint(truncate)')
  expect(statSync(`${fileOf(ledger)}-wal`).size).toBe(0)
})
