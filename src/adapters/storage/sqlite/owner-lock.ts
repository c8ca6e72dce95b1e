/**
 * Ensures that one process owns a ledger: the one that holds `<ledger>.lock` in an exclusive transaction.
 *
 * Owns that file for the life of the ledger; the operating system releases it when the process dies. Never opened with `fs`: closing such
 * a descriptor would drop the lock. We never delete it, but other programs do: a new lock file proves nothing until the ledger itself was
 * found free once. Then the file is marked with its own identity, and later owners skip that check.
 *
 * owner-lock-1  With a new, copied or replaced lock file, no ledger is opened that another process has open.
 * owner-lock-2  A lock file that lost its name before the ledger was open does not count.
 */
import { chmodSync, existsSync } from 'node:fs'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Database, DatabaseClass } from './driver.ts'
import { isBusy } from './errors.ts'
import { type FileIdentity, identityOf } from './presence.ts'
import { rewriteLog } from './rewrite-log.ts'

/** Name of a table that marks the file with its identity: a copy of the file has another identity. */
const markOf = ({ dev, ino }: FileIdentity): string => `owner_${dev}_${ino}`

/** Uses `exec`: a prepared statement would keep the database, and with it the lock, beyond its close. */
const hasTable = (db: Database, name: string): boolean => {
  try {
    db.exec(`select 1 from ${name}`)
    return true
  } catch (error) {
    if (error instanceof Error && error.message.includes('no such table')) return false
    throw error
  }
}

const inUse = (detail: string, cause?: unknown): TrihandError => new TrihandError('LEDGER_IN_USE', detail, { cause })

/**
 * Every connection to a ledger in WAL mode holds a shared lock on it while it is open, so that an exclusive lock proves that there is
 * none. Closing this connection moves the log into the ledger, so the log is rewritten first, as before every opening.
 */
const requireFree = (driver: DatabaseClass, ledger: string): void => {
  if (!existsSync(ledger)) return
  const probe = new driver(ledger, { timeout: 0 })
  try {
    probe.exec('pragma locking_mode = exclusive')
    probe.exec('begin exclusive; commit')
    rewriteLog(ledger)
  } catch (error) {
    if (!isBusy(error)) throw error
    throw inUse(`another process has ${ledger} open, but its lock file ${ledger}.lock was replaced`, error)
  } finally {
    probe.close()
  }
}

export class OwnerLock {
  /** A field, because an unreferenced database is closed by the garbage collector, and its lock with it. */
  #holder: Database | null

  readonly #file: string
  readonly #identity: FileIdentity | null

  constructor(driver: DatabaseClass, ledger: string) {
    this.#file = `${ledger}.lock`
    const holder = new driver(this.#file, { timeout: 0 })
    this.#holder = holder
    try {
      chmodSync(this.#file, 0o600)
      holder.exec('begin exclusive')
      this.#identity = identityOf(this.#file)
      this.#mark(driver, ledger)
    } catch (error) {
      this.release()
      if (!isBusy(error)) throw error
      throw inUse(`another process has ${ledger} open`, error)
    }
  }

  /** owner-lock-2: called once the ledger is open, when no other process can find it free any more. */
  requireKept(): void {
    const now = identityOf(this.#file)
    if (now === null || now.ino !== this.#identity?.ino || now.dev !== this.#identity.dev)
      throw inUse(`${this.#file} was deleted or replaced while the ledger was opened`)
  }

  /** owner-lock-1. Another process may take the lock between the two transactions: then the second one is refused. */
  #mark(driver: DatabaseClass, ledger: string): void {
    const [holder, identity] = [this.#holder, this.#identity]
    if (holder === null || identity === null) throw inUse(`${this.#file} was deleted while it was opened`)
    if (hasTable(holder, markOf(identity))) return
    requireFree(driver, ledger)
    holder.exec(`create table ${markOf(identity)} (mark); commit; begin exclusive`)
  }

  release(): void {
    this.#holder?.close()
    this.#holder = null
  }
}
