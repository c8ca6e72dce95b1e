/** The owner of each effect key, over all runs of the ledger. */
import type { StatementSyncInstance } from '@photostructure/sqlite'
import type { Scratch } from '#cli/verify/scratch.ts'

interface Statements {
  readonly put: StatementSyncInstance
  readonly get: StatementSyncInstance
}

const SCHEMA = 'create table owner (key text primary key, run text not null, step text not null) without rowid'

export class EffectKeys {
  readonly #scratch: Scratch
  #statements: Statements | null = null

  constructor(scratch: Scratch) {
    this.#scratch = scratch
  }

  /** Null if this step now owns the key; otherwise the step that had it first. */
  claim(key: string, run: string, step: string): string | null {
    this.#statements ??= this.#prepare()
    const { put, get } = this.#statements
    if (put.run(key, run, step).changes === 1) return null
    const owner = get.get(key)
    return owner.run === run && owner.step === step ? null : `step ${owner.step} of ${owner.run}`
  }

  #prepare(): Statements {
    const db = this.#scratch.open(SCHEMA)
    return {
      put: db.prepare('insert or ignore into owner (key, run, step) values (?, ?, ?)'),
      get: db.prepare('select run, step from owner where key = ?'),
    }
  }
}
