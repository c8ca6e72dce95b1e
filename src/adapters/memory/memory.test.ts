/** The memory ledger and its neighbours against the conformance suites. */
import type { LedgerUnderTest } from '../../testing/ledger/harness.ts'
import { ledgerSuite } from '../../testing/ledger-suite.ts'
import { MemoryLedger } from './ledger.ts'
import { MemoryStore } from './store.ts'

const openMemory = async (lastSequence = 0): Promise<LedgerUnderTest> => {
  const store = new MemoryStore({ lastSequence })
  const ledger = new MemoryLedger(store)
  return {
    ledger,
    second: async () => new MemoryLedger(store),
    reopen: async () => {
      await ledger.close()
      return new MemoryLedger(store)
    },
    close: () => ledger.close(),
  }
}

ledgerSuite('memory', () => openMemory(), { reopens: true, shared: true, openAt: openMemory })
