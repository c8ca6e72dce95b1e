/**
 * One open database with its prepared statements, and what happens to it when something fails.
 *
 * Owns transactions, the translation of errors and the reopening after an I/O error. Never knows a table.
 *
 * connection-1  A transaction that did not commit has left nothing behind, and its owner is told to forget what it cached in it.
 * connection-2  After an I/O error nothing is read or written through the old database: it is opened again first.
 * connection-3  Three I/O errors within a minute end the writing until the process starts again.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Database, Statement } from './driver.ts'
import { isIoError, translate } from './errors.ts'
import type { Presence } from './presence.ts'

export interface ConnectionOptions<Statements> {
  /** Without it the database is opened when it is first needed. */
  readonly db?: Database
  readonly reopen: () => Database
  readonly prepare: (db: Database) => Statements
  /** Tells whether the file that is open is the one that has its name. Absent: nobody asks. */
  readonly presence?: Pick<Presence, 'beforeWriting' | 'afterCommit'>
  /** Called when cached knowledge about the tables may be wrong: after a rollback and after a reopening. */
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

  /** One transaction. */
  write<Result>(work: (statements: Statements) => Result): Result {
    return this.#guarded((session) => {
      this.#checkWritable()
      session.begin.run()
      const result = work(session.statements)
      this.#commit(session)
      return result
    })
  }

  /** One transaction that is rolled back if the work answers null. */
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

  /** Moves the log into the main file. The package's `close` leaves it: its statements live until the garbage collector takes them. */
  emptyLog(): void {
    if (this.#session !== null && !this.#readOnly) this.#guarded(({ db }) => db.exec('pragma wal_checkpoint(truncate)'))
  }

  /** False once there was an I/O error. */
  get isSound(): boolean {
    return this.#ioErrorsAt.length === 0
  }

  /** The next call opens the database again. */
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
    // connection-2: the next call opens again.
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
      `${IO_ERROR_LIMIT} I/O errors within a minute: read-only until the process starts again`,
    )
  }
}

/** Rolls back what is open. After some errors SQLite has done it already; a second error must not hide the first one. */
const undo = (db: Database): boolean => {
  try {
    if (db.isTransaction) db.exec('rollback')
    return true
  } catch {
    return false
  }
}
