/** The SQLite ledger and its neighbours against the conformance suites, on real files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerUnderTest } from '../../testing/ledger/harness.ts'
import { ledgerSuite } from '../../testing/ledger-suite.ts'
import { loadDriver } from './driver.ts'
import { openSqlite } from './open.ts'

/** Makes the next event of a ledger get the sequence after this one. */
const moveSequence = async (file: string, lastSequence: number): Promise<void> => {
  const driver = await loadDriver()
  const db = new driver(file, { timeout: 0 })
  db.prepare("insert into sqlite_sequence (name, seq) values ('event', ?)").run(lastSequence)
  db.close()
}

const openTemporary = async (lastSequence = 0): Promise<LedgerUnderTest> => {
  const directory = mkdtempSync(join(tmpdir(), 'trihand-sqlite-'))
  const file = join(directory, 'ledger.db')
  let { ledger } = await openSqlite({ file })
  const reopen = async () => {
    await ledger.close()
    ledger = (await openSqlite({ file })).ledger
    return ledger
  }
  if (lastSequence > 0) {
    await ledger.close()
    await moveSequence(file, lastSequence)
    await reopen()
  }
  return {
    ledger,
    reopen,
    close: async () => {
      await ledger.close()
      rmSync(directory, { recursive: true })
    },
  }
}

ledgerSuite('sqlite', () => openTemporary(), { reopens: true, openAt: openTemporary })
