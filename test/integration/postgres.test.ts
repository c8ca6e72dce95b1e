/** The Postgres ledger and its neighbours against the conformance suites, on a real server. */
import { describe } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open.ts'
import type { LedgerUnderTest } from '../../src/testing/ledger/harness.ts'
import { ledgerSuite } from '../../src/testing/ledger-suite.ts'
import { freshSchema } from '../support/postgres.ts'

const url = process.env['TRIHAND_TEST_PG_URL'] ?? ''

const openLedger = async (): Promise<LedgerUnderTest> => {
  const fresh = await freshSchema(url)
  const open = () => openPostgres({ url: fresh.url, clock: 'caller', max: 4 })
  const { ledger } = await open()
  return {
    ledger,
    second: async () => (await open()).ledger,
    reopen: async () => {
      await ledger.close()
      return (await open()).ledger
    },
    close: async () => {
      await ledger.close()
      await fresh.drop()
    },
  }
}

describe.skipIf(url === '')('postgres', () => {
  ledgerSuite('postgres', openLedger, { reopens: true, shared: true, histories: 15 })
})
