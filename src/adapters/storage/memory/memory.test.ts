/** The memory ledger, reader and blobs against the conformance suites, directly and with injected faults. */
import { Random } from '#test/support/random.ts'
import { blobsSuite } from '#testing/blobs-suite.ts'
import { type FaultPlan, faultyLedger } from '#testing/faulty-ledger.ts'
import { ledgerSuite } from '#testing/ledger-suite.ts'
import { type ReaderUnderTest, readerSuite } from '#testing/reader-suite.ts'
import { resendingLedger } from '#testing/resending-ledger.ts'
import { MemoryBlobs } from './blobs.ts'
import { MemoryLedger } from './ledger.ts'
import { MemoryReader } from './reader.ts'
import { MemoryStore } from './store.ts'

const openMemory = async (lastSequence = 0, plan: FaultPlan = () => null): Promise<ReaderUnderTest> => {
  const store = new MemoryStore({ lastSequence })
  const open = () => resendingLedger(faultyLedger(new MemoryLedger(store), plan))
  const ledger = open()
  return {
    ledger,
    reader: new MemoryReader(store),
    second: async () => open(),
    reopen: async () => {
      await ledger.close()
      return open()
    },
    close: () => ledger.close(),
  }
}

const random = new Random(1)
const losesAnswers: FaultPlan = ({ method }) => (method === 'append' && random.chance(0.4) ? 'done_then_fail' : null)

ledgerSuite('memory', () => openMemory(), { reopens: true, shared: true, openAt: openMemory })
readerSuite('memory', () => openMemory())

const behindFaults = { reopens: true, shared: true, resends: true }
ledgerSuite('memory, answers lost', () => openMemory(0, losesAnswers), behindFaults)
readerSuite('memory, answers lost', () => openMemory(0, losesAnswers), behindFaults)

blobsSuite('memory', async () => {
  const blobs = new MemoryBlobs()
  return { blobs, reopen: async () => blobs, close: async () => {} }
})
