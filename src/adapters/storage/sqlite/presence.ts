/**
 * Compares the open file with the file that has its name: a deleted, moved or replaced ledger takes no more writes.
 *
 * SQLite goes on writing into a file that has lost its name, and everything written there is lost with the process. One `stat` after
 * each commit (2 µs beside 100 to 300 µs) detects this before the commit is acknowledged. Never opens a file: closing it would drop the
 * locks.
 *
 * presence-1  No commit is acknowledged after the ledger file was deleted or replaced; if the same file is back under its name, work
 *             goes on. The log beside it is compared 20 times a second at most, so that its loss is seen within 50 ms of work.
 * presence-2  A missing ledger is never created again by a process that has it open.
 */
import { statSync } from 'node:fs'
import { TrihandError } from '#model/kernel/errors.ts'

/** Identifies a file independently of its name. */
export interface FileIdentity {
  readonly dev: number
  readonly ino: number
}

const LOG_EVERY_MS = 50
/** Not `performance.now()`: its first call loads a dozen modules of Node, 3 % of a start. */
const monotonicMs = (): number => {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1_000 + nanos / 1e6
}

const QUIETLY = { throwIfNoEntry: false } as const

export const identityOf = (file: string): FileIdentity | null => {
  const found = statSync(file, QUIETLY)
  return found === undefined ? null : { dev: found.dev, ino: found.ino }
}

const isSame = (file: string, { dev, ino }: FileIdentity): boolean => {
  const found = statSync(file, QUIETLY)
  return found !== undefined && found.ino === ino && found.dev === dev
}

export class Presence {
  readonly #file: string
  #ledger: FileIdentity | null
  #log: FileIdentity | null = null
  #logComparedAt = 0
  #lost: string | null = null

  /** `identity`: the file that its owner has opened; null: the one that is opened next. */
  constructor(file: string, identity: FileIdentity | null = null) {
    this.#file = file
    this.#ledger = identity
  }

  /** presence-2: called before the file is opened, for the first time or again. */
  beforeOpening(): void {
    if (this.#ledger !== null && !isSame(this.#file, this.#ledger)) throw this.#missing(this.#file, 'not_done')
    this.#log = null
  }

  /** Called after the file was opened. */
  opened(): void {
    this.#ledger ??= identityOf(this.#file)
  }

  get identity(): FileIdentity | null {
    return this.#ledger
  }

  /** Called before a transaction: costs nothing unless the file was missing the last time. */
  beforeWriting(): void {
    if (this.#lost === null) return
    this.#compare('not_done')
    this.#lost = null
  }

  /** presence-1: called after a commit, before it is acknowledged. The same file may reappear with the commit, so the outcome is unknown. */
  afterCommit(): void {
    if (this.#ledger !== null && !isSame(this.#file, this.#ledger)) throw this.#missing(this.#file, 'unknown')
    const now = monotonicMs()
    if (now - this.#logComparedAt < LOG_EVERY_MS) return
    this.#logComparedAt = now
    this.#compareLog('unknown')
  }

  #compare(outcome: TrihandError['outcome']): void {
    if (this.#ledger !== null && !isSame(this.#file, this.#ledger)) throw this.#missing(this.#file, outcome)
    this.#compareLog(outcome)
  }

  #compareLog(outcome: TrihandError['outcome']): void {
    const log = `${this.#file}-wal`
    if (this.#log === null) this.#log = identityOf(log)
    else if (!isSame(log, this.#log)) throw this.#missing(log, outcome)
  }

  #missing(file: string, outcome: TrihandError['outcome']): TrihandError {
    this.#lost = file
    const detail = `${file} was deleted, moved or replaced while this process has it open`
    return new TrihandError('LEDGER_MISSING', detail, { outcome })
  }
}
