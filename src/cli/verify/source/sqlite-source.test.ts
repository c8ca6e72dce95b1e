/** A SQLite ledger as a source: rows survive garbage collection, and a closed source releases the server's log. */
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
/** Finalisers of the garbage collector run in a later turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const fileOf = ({ target }: LedgerByHand): string => ('file' in target ? target.file : '')

test('a query continues although its statement could have been garbage-collected', async () => {
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

test('a closed source holds no snapshot, even before garbage collection', async () => {
  const ledger = await aLedger()
  const source = openSqlite(fileOf(ledger))
  for await (const _ of source.rows('select version from trihand_migration'));
  await source.close()
  await ledger.run([started(), fact('run.completed')])
  // A snapshot from before these facts would keep the log from being emptied: SQLITE_BUSY, or a log with bytes in it.
  await ledger.sql('pragma wal_checkpoint(truncate)')
  expect(statSync(`${fileOf(ledger)}-wal`).size).toBe(0)
})
