/**
 * The Ledger on one SQLite file that this process owns: while there is little to do in this thread, under load in one of its own.
 *
 * Owns which of the two desks has the file. What a desk does is desk.ts, how the other one is reached is thread.ts.
 *
 * ledger-a  At any moment one desk writes. The file changes hands only while nothing is under way, and whoever takes it over remembers
 *           nothing of before.
 * ledger-b  A desk that has met trouble keeps the file: what it knows of the trouble (connection.ts) goes with no message.
 * ledger-c  If the thread cannot be started, or dies, the file stays or comes back here, and is opened again first.
 */
import type { ThreadSession } from '#adapters/storage/sqlite/thread/thread.ts'
import type { Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Append, BeatRequest, ClaimRequest, EventQuery, Ledger, LoadOptions } from '#ports/ledger.ts'
import type { LedgerSession } from './session.ts'

export interface SqliteLedgerOptions {
  readonly here: LedgerSession
  /** Whether the desk here has met no trouble with the disk. */
  readonly isSound: () => boolean
  /** The next call here opens the file again. */
  readonly reopen: () => void
  readonly startThread: () => Promise<ThreadSession>
  readonly limits?: LoadLimits
  /** Gives up everything that was opened with this ledger. */
  readonly close: () => void
}

/** When a thread is worth its start and its messages. */
export interface LoadLimits {
  /** A batch of so many appends speaks for a thread, a smaller one against it. */
  readonly many: number
  /** So many large batches more than small ones. */
  readonly busy: number
  /** After so many small ones in a row it is quiet again. */
  readonly quiet: number
}

const LIMITS: LoadLimits = { many: 32, busy: 4, quiet: 64 }

export class SqliteLedger implements Ledger, Blobs {
  readonly #options: SqliteLedgerOptions
  readonly #limits: LoadLimits
  #thread: ThreadSession | null = null
  #starting: Promise<void> | null = null
  #isThere = false
  #load = 0

  constructor(options: SqliteLedgerOptions) {
    this.#options = options
    this.#limits = options.limits ?? LIMITS
  }

  append(batch: readonly Append[]): ReturnType<Ledger['append']> {
    const { many, quiet } = this.#limits
    this.#load = batch.length >= many ? Math.min(this.#load + 1, quiet) : Math.max(this.#load - 1, 0)
    this.#shift()
    return this.#session.append(batch)
  }

  load(streams: readonly StreamId[], options?: LoadOptions): ReturnType<Ledger['load']> {
    return this.#session.load(streams, options)
  }

  /** Each time by the desk that has the file then (ledger-a), and others have their turn in between. */
  async events(query: EventQuery): ReturnType<Ledger['events']> {
    for (;;) {
      const found = await this.#session.events(query)
      if (found !== null) return found
      await new Promise(setImmediate)
    }
  }

  claim(request: ClaimRequest): ReturnType<Ledger['claim']> {
    return this.#session.claim(request)
  }

  beat(request: BeatRequest): Promise<number> {
    return this.#session.beat(request)
  }

  retire(worker: WorkerId, now: Instant): Promise<void> {
    return this.#session.retire(worker, now)
  }

  put(hash: string, text: string): Promise<void> {
    return this.#session.put(hash, text)
  }

  get(hash: string): Promise<string | null> {
    return this.#session.get(hash)
  }

  async close(): Promise<void> {
    await this.#starting
    // One that has died has closed by itself.
    await this.#thread?.close().catch(() => {})
    this.#options.close()
  }

  get #session(): LedgerSession {
    if (this.#thread !== null && this.#isThere) {
      if (!this.#thread.isDead) return this.#thread
      this.#comeBack()
      this.#options.reopen()
    }
    return this.#options.here
  }

  #shift(): void {
    if (this.#isThere) {
      // ledger-a, ledger-b
      if (this.#load === 0 && this.#thread?.isIdle === true && !this.#thread.hasFailed) this.#comeBack()
    } else if (this.#load >= this.#limits.busy && this.#options.isSound()) {
      this.#goThere()
    }
  }

  #goThere(): void {
    if (this.#thread?.isDead === true) return
    if (this.#thread === null) {
      this.#starting ??= this.#start()
      return
    }
    this.#isThere = true
    // Answered before whatever is asked next (thread-1); if the thread dies instead, that is noticed there.
    void this.#thread.forget().catch(() => {})
  }

  async #start(): Promise<void> {
    this.#thread = await this.#options.startThread().catch(() => null)
  }

  #comeBack(): void {
    this.#isThere = false
    void this.#options.here.forget()
  }
}
