/**
 * The Ledger on one SQLite file that this process owns: served by this thread under low load, and by a thread of its own under high load.
 *
 * Owns which of the two sessions has the file. session.ts does the work; thread.ts is the session in the thread.
 *
 * ledger-a  Only one session writes at any moment. The file changes hands only while no call is in progress, and the session that takes
 *           it over has an empty cache.
 * ledger-b  A session that has had an error keeps the file: its state of recovery (connection.ts) cannot be passed in a message.
 * ledger-c  If the thread cannot be started, or dies, the file stays or comes back here, and is reopened first.
 */
import type { ThreadSession } from '#adapters/storage/sqlite/thread/thread.ts'
import type { Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Append, BeatRequest, ClaimRequest, EventQuery, Ledger, LoadOptions } from '#ports/ledger.ts'
import type { LedgerSession } from './session.ts'

export interface SqliteLedgerOptions {
  readonly here: LedgerSession
  /** True if the session here has had no error of the disk. */
  readonly isSound: () => boolean
  /** Makes the next call here open the file again. */
  readonly reopen: () => void
  readonly startThread: () => Promise<ThreadSession>
  readonly limits?: LoadLimits
  /** Releases everything that was opened with this ledger. */
  readonly close: () => void
}

/** When a thread is worth its start and its messages. */
export interface LoadLimits {
  /** A batch of at least this many appends counts for the thread, a smaller one against it. */
  readonly many: number
  /** The thread takes over when large batches outnumber small ones by this many. */
  readonly busy: number
  /** The upper limit of that balance: after this many small batches in a row the file comes back. */
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

  /** Each read goes to the session that has the file at that time (ledger-a); other work runs in between. */
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
    // A thread that has died has closed already.
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
    // Answered before the next call (thread-1); if the thread dies instead, that call notices.
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
