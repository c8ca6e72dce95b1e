/**
 * Who owns which effect key, over all runs of the ledger.
 *
 * Opened with the first key only: most ledgers have no step of that kind.
 */
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { openScratch } from './scratch.ts'

interface Opened {
  readonly db: DatabaseSyncInstance
  readonly put: StatementSyncInstance
  readonly get: StatementSyncInstance
}

const SCHEMA = 'create table owner (key text primary key, run text not null, step text not null) without rowid'

export class EffectKeys {
  #opened: Opened | null = null

  /** Null if this step owns the key now; else who had it first. */
  claim(key: string, run: string, step: string): string | null {
    const { put, get } = this.#open()
    if (put.run(key, run, step).changes === 1) return null
    const owner = get.get(key)
    return owner.run === run && owner.step === step ? null : `step ${owner.step} of ${owner.run}`
  }

  close(): void {
    this.#opened?.db.close()
    this.#opened = null
  }

  #open(): Opened {
    if (this.#opened !== null) return this.#opened
    const db = openScratch(SCHEMA)
    this.#opened = {
      db,
      put: db.prepare('insert or ignore into owner (key, run, step) values (?, ?, ?)'),
      get: db.prepare('select run, step from owner where key = ?'),
    }
    return this.#opened
  }
}
