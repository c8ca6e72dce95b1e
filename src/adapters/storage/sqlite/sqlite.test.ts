/** The SQLite ledger, reader and blobs against the conformance suites, on real files. */
import { join } from 'node:path'
import { fastFolder } from '#test/support/places.ts'
import { Random } from '#test/support/random.ts'
import { type BlobsUnderTest, blobsSuite } from '#testing/blobs-suite.ts'
import { type FaultPlan, faultyLedger } from '#testing/faulty-ledger.ts'
import { ledgerSuite } from '#testing/ledger-suite.ts'
import { type ReaderUnderTest, readerSuite } from '#testing/reader-suite.ts'
import { resendingLedger } from '#testing/resending-ledger.ts'
import { loadDriver } from './driver.ts'
import { openSqlite } from './open.ts'

const NO_FAULTS: FaultPlan = () => null

/** Makes the next event of a ledger get the sequence after this one. */
const moveSequence = async (file: string, lastSequence: number): Promise<void> => {
  const driver = await loadDriver()
  const db = new driver(file, { timeout: 0 })
  db.prepare("insert into sqlite_sequence (name, seq) values ('event', ?)").run(lastSequence)
  db.close()
}

const newFile = (): { file: string; remove: () => void } => {
  const { path, remove } = fastFolder('sqlite')
  return { file: join(path, 'ledger.db'), remove }
}

const openTemporary = async (lastSequence = 0, plan = NO_FAULTS): Promise<ReaderUnderTest> => {
  const { file, remove } = newFile()
  const open = async () => {
    const opened = await openSqlite({ file })
    return { ...opened, ledger: resendingLedger(faultyLedger(opened.ledger, plan)) }
  }
  let current = await open()
  const reopen = async () => {
    await current.ledger.close()
    current = await open()
    return current.ledger
  }
  if (lastSequence > 0) {
    await current.ledger.close()
    await moveSequence(file, lastSequence)
    await reopen()
  }
  const { ledger, reader } = current
  const close = async () => {
    await current.ledger.close()
    remove()
  }
  return { ledger, reader, reopen, close }
}

const openBlobs = async (): Promise<BlobsUnderTest> => {
  const { file, remove } = newFile()
  let current = await openSqlite({ file })
  const reopen = async () => {
    await current.ledger.close()
    current = await openSqlite({ file })
    return current.blobs
  }
  const close = async () => {
    await current.ledger.close()
    remove()
  }
  return { blobs: current.blobs, reopen, close }
}

const random = new Random(1)
const losesAnswers: FaultPlan = ({ method }) => (method === 'append' && random.chance(0.4) ? 'done_then_fail' : null)
/** Fewer histories than on the memory ledger, because each opens a file of its own. */
const HISTORIES = 20
const behindFaults = { reopens: true, resends: true, histories: HISTORIES }

ledgerSuite('sqlite', () => openTemporary(), { reopens: true, histories: HISTORIES, openAt: openTemporary })
readerSuite('sqlite', () => openTemporary())
ledgerSuite('sqlite, answers lost', () => openTemporary(0, losesAnswers), behindFaults)
readerSuite('sqlite, answers lost', () => openTemporary(0, losesAnswers), behindFaults)
blobsSuite('sqlite', openBlobs)
