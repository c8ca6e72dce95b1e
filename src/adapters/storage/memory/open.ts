/**
 * A store in memory: for ephemeral sessions, tests and the simulator. It is lost with the process.
 *
 * Owns only how the parts are joined; several ledgers may share one store.
 */
import type { Blobs } from '#ports/blobs.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { MemoryBlobs } from './blobs.ts'
import { MemoryLedger } from './ledger.ts'
import { MemoryReader } from './reader.ts'
import { MemoryStore } from './store.ts'

export const openMemory = (
  store = new MemoryStore(),
  blobs: Blobs = new MemoryBlobs(),
): { readonly ledger: Ledger; readonly reader: Reader; readonly blobs: Blobs } => ({
  ledger: new MemoryLedger(store),
  reader: new MemoryReader(store),
  blobs,
})
