/**
 * One process owns a ledger: whoever holds `<ledger>.lock` in an exclusive transaction.
 *
 * Owns that file for the life of the ledger; the operating system frees it when the process dies. Never touches the ledger itself.
 * Never opened with `fs`: closing such a descriptor would drop the lock. Never deleted: two owners could then hold two files.
 */
import { chmodSync } from 'node:fs'
import { TrihandError } from '../../model/errors.ts'
import type { Database, DatabaseClass } from './driver.ts'
import { isBusy } from './errors.ts'

export class OwnerLock {
  /** A field, because a database that nobody holds is closed by the garbage collector, and its lock with it. */
  #holder: Database | null

  constructor(driver: DatabaseClass, ledger: string) {
    const file = `${ledger}.lock`
    const holder = new driver(file, { timeout: 0 })
    this.#holder = holder
    try {
      chmodSync(file, 0o600)
      holder.exec('begin exclusive')
    } catch (error) {
      this.release()
      if (!isBusy(error)) throw error
      throw new TrihandError('LEDGER_IN_USE', `another process owns ${ledger}`, { cause: error })
    }
  }

  release(): void {
    this.#holder?.close()
    this.#holder = null
  }
}
