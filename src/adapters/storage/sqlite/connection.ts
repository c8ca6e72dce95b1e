/**
 * One open database with its prepared statements, and its recovery from errors.
 *
 * Owns transactions, the translation of errors and reopening after an I/O error. Does not know any table.
 *
 * connection-1  A transaction that did not commit has left nothing behind, and its owner is called to forget what it cached in it.
 * connection-2  After an I/O error nothing is read or written through the old database: it is reopened first.
 * connection-3  Three I/O errors within a minute stop all writes until the process restarts.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Database, Statement } from './driver.ts'
import { isIoError, translate } from './errors.ts'
import type { Presence } from './presence.ts'

export interface ConnectionOptions<Statements> {
  /** Absent: the database is opened on first use. */
  readonly db?: Database
  readonly reopen: () => Database
  readonly prepare: (db: Database) => Statements
  /** Checks that the open file is still the one with its name. Absent: no check. */
  readonly presence?: Pick<Presence, 'beforeWriting' | 'afterCommit'>
  /** Called when cached data of the tables may be wrong: after a rollback and after reopening. */
  readonly forget?: () => void
}

interface Session<Statements> {
  readonly db: Database
  readonly statements: Statements
  readonly begin: Statement
  readonly commit: Statement
}

const IO_ERROR_LIMIT = 3
const IO_ERROR_WINDOW_MS = 60_000

export class Connection<Statements> {
  readonly #options: ConnectionOptions<Statements>
  #session: Session<Statements> | null
  #ioErrorsAt: readonly number[] = []
  #readOnly = false
  #closed = false

  constructor(options: ConnectionOptions<Statements>) {
    this.#options = options
    this.#session = options.db === undefined ? null : this.#begin(options.db)
  }

  read<Result>(work: (statements: Statements) => Result): Result {
    return this.#guarded(({ statements }) => work(statements))
  }

  /** Runs the work in one transaction. */
  write<Result>(work: (statements: Statements) => Result): Result {
    return this.#guarded((session) => {
      this.#checkWritable()
      session.begin.run()
      const result = work(session.statements)
      this.#commit(session)
      return result
    })
  }

  /** Runs the work in one transaction, which is rolled back if the work returns null. */
  writeUnlessNull<Result>(work: (statements: Statements) => Result | null): Result | null {
    return this.#guarded((session) => {
      this.#checkWritable()
      session.begin.run()
      const result = work(session.statements)
      if (result !== null) {
        this.#commit(session)
        return result
      }
      session.db.exec('rollback')
      this.#options.forget?.()
      return null
    })
  }

  /** Moves the log into the main file. The package's `close` does not: its statements live until they are garbage-collected. */
  emptyLog(): void {
    if (this.#session !== null && !this.#readOnly) this.#guarded(({ db }) => db.exec('pragma wal_checkpoint(truncate)'))
  }

  /** False after an I/O error. */
  get isSound(): boolean {
    return this.#ioErrorsAt.length === 0
  }

  /** Makes the next call open the database again. */
  reopen(): void {
    this.#session?.db.close()
    this.#session = null
    this.#options.forget?.()
  }

  close(): void {
    this.#closed = true
    this.#session?.db.close()
    this.#session = null
  }

  #begin(db: Database): Session<Statements> {
    const { prepare } = this.#options
    return { db, statements: prepare(db), begin: db.prepare('begin immediate'), commit: db.prepare('commit') }
  }

  #guarded<Result>(work: (session: Session<Statements>) => Result): Result {
    if (this.#closed) throw new TrihandError('LEDGER_UNAVAILABLE', 'the ledger is closed')
    try {
      this.#session ??= this.#begin(this.#options.reopen())
      return work(this.#session)
    } catch (error) {
      this.#recover(error)
      throw translate(error)
    }
  }

  #commit(session: Session<Statements>): void {
    session.commit.run()
    this.#options.presence?.afterCommit()
  }

  #recover(error: unknown): void {
    if (isIoError(error)) this.#countIoError()
    const session = this.#session
    if (session === null) return
    const isUndone = undo(session.db)
    this.#options.forget?.()
    if (isUndone && !isIoError(error)) return
    // connection-2: the next call opens it again.
    this.#session = null
    session.db.close()
  }

  /** connection-3 */
  #countIoError(): void {
    const now = performance.now()
    this.#ioErrorsAt = [...this.#ioErrorsAt.filter((at) => at > now - IO_ERROR_WINDOW_MS), now]
    this.#readOnly ||= this.#ioErrorsAt.length >= IO_ERROR_LIMIT
  }

  #checkWritable(): void {
    this.#options.presence?.beforeWriting()
    if (!this.#readOnly) return
    throw new TrihandError(
      'LEDGER_UNAVAILABLE',
      `${IO_ERROR_LIMIT} I/O errors within a minute: the ledger is read-only until the process restarts`,
    )
  }
}

/** Rolls back an open transaction. After some errors SQLite has already done so; a second error must not hide the first one. */
const undo = (db: Database): boolean => {
  try {
    if (db.isTransaction) db.exec('rollback')
    return true
  } catch {
    return false
  }
}
