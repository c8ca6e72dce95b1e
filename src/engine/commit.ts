/**
 * The only writer of the ledger: gathers the appends of one moment into one batch, and answers each when it is on disk.
 *
 * Owns group commit, the resend after doubt and the wait while the store is away. Never decides what is written.
 *
 * commit-1  A source has at most one append under way; what it wants to write meanwhile goes into its next one.
 * commit-2  After an unknown outcome the same batch is sent again, with the same append ids, until the ledger answers.
 * commit-3  A source that must not lose its append (a finished step) is kept and sent again while the store is full or down.
 */
import { TrihandError } from '../model/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Append, Ledger, Outcome } from '../ports/ledger.ts'

export interface AppendSource {
  /** What to write now; null if there is nothing. Not called again before settle or failed. */
  next(): Append | null
  settle(outcome: Outcome): void
  /** The ledger could not take the append. `keep`: send it again later. */
  failed(error: TrihandError): 'keep' | 'drop'
}

export interface CommitOptions {
  readonly maxBatch: number
  readonly maxInFlight: number
}

interface Batch {
  readonly sources: readonly AppendSource[]
  readonly appends: readonly Append[]
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
/** How long a caller waits for a store in doubt before it is told that the outcome is unknown. */
const MAX_RESENDS = 12

export class Commit {
  private readonly ledger: Pick<Ledger, 'append'>
  private readonly clock: Clock
  private readonly ids: Ids
  private readonly options: CommitOptions
  private readonly waiting = new Set<AppendSource>()
  private readonly busy = new Set<AppendSource>()
  private inFlight = 0
  private scheduled = false
  private stopped = false

  constructor(
    deps: { readonly ledger: Pick<Ledger, 'append'>; readonly clock: Clock; readonly ids: Ids },
    options: CommitOptions,
  ) {
    this.ledger = deps.ledger
    this.clock = deps.clock
    this.ids = deps.ids
    this.options = options
  }

  /** Asks for `next` to be called once everything that is ready in this turn has been gathered. */
  request(source: AppendSource): void {
    if (this.stopped) return
    this.waiting.add(source)
    this.schedule()
  }

  /** True while a batch is under way or waits for its turn. */
  get pending(): boolean {
    return this.inFlight > 0 || this.waiting.size > 0
  }

  /** No further batch begins; what is under way may still settle. */
  stop(): void {
    this.stopped = true
    this.waiting.clear()
  }

  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.options.maxInFlight) return
    this.scheduled = true
    this.clock.turn(() => {
      this.scheduled = false
      this.flush()
    })
  }

  private flush(): void {
    const batch = this.gather()
    if (batch.appends.length > 0) {
      this.inFlight++
      void this.write(batch)
    }
    if (this.hasReady()) this.schedule()
  }

  private hasReady(): boolean {
    for (const source of this.waiting) if (!this.busy.has(source)) return true
    return false
  }

  private gather(): Batch {
    const sources: AppendSource[] = []
    const appends: Append[] = []
    for (const source of this.waiting) {
      if (appends.length >= this.options.maxBatch) break
      if (this.busy.has(source)) continue
      this.waiting.delete(source)
      const append = this.ask(source)
      if (append === null) continue
      this.busy.add(source)
      sources.push(source)
      appends.push(append)
    }
    return { sources, appends }
  }

  /** A source that cannot say what it wants must not stop the others. */
  private ask(source: AppendSource): Append | null {
    try {
      return source.next()
    } catch (error) {
      source.failed(
        error instanceof TrihandError ? error : new TrihandError('INTERNAL', String(error), { cause: error }),
      )
      return null
    }
  }

  private async write(first: Batch): Promise<void> {
    let batch = first
    for (let tries = 0; batch.appends.length > 0 && !this.stopped; tries++) {
      try {
        this.settle(batch, await this.ledger.append(batch.appends))
        break
      } catch (error) {
        batch = this.keep(batch, asLedgerError(error), tries)
        if (batch.appends.length > 0) await this.pause(tries)
      }
    }
    this.inFlight--
    if (this.waiting.size > 0) this.schedule()
  }

  private settle(batch: Batch, outcomes: readonly Outcome[]): void {
    batch.sources.forEach((source, i) => {
      this.busy.delete(source)
      source.settle(outcomes[i] as Outcome)
    })
  }

  /** commit-2, commit-3: in doubt everything is sent again; a definite refusal is put to each source. */
  private keep(batch: Batch, error: TrihandError, tries: number): Batch {
    if (error.outcome === 'unknown' && tries < MAX_RESENDS) return batch
    const kept = batch.sources
      .map((source, i) => ({ source, append: batch.appends[i] as Append }))
      .filter(({ source }) => {
        if (source.failed(error) === 'keep') return true
        this.busy.delete(source)
        return false
      })
    return { sources: kept.map((entry) => entry.source), appends: kept.map((entry) => entry.append) }
  }

  private pause(tries: number): Promise<void> {
    const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries)
    const ms = Math.ceil(bound * (0.5 + this.ids.roll() / 2))
    return new Promise((resolve) => {
      this.clock.at(this.clock.now() + ms, resolve)
    })
  }
}

const asLedgerError = (error: unknown): TrihandError =>
  error instanceof TrihandError
    ? error
    : new TrihandError('INTERNAL', 'the ledger adapter threw a foreign error', { cause: error, outcome: 'unknown' })
