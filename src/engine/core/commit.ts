/**
 * The only writer of the ledger: gathers the appends of one moment into one batch, and answers each when it is on disk.
 *
 * Owns group commit, the resend after an unknown outcome and the wait while the store is unavailable. Never decides what is written.
 *
 * commit-1  A source has at most one append under way; what it wants to write meanwhile goes into its next one.
 * commit-2  After an unknown outcome the same batch is sent again, with the same append ids, until the ledger answers.
 * commit-3  A source that must not lose its append (a finished step) is kept and sent again while the store is full or down.
 * commit-4  A batch writes an existing stream once: a second append to it waits for the next batch.
 * commit-5  Once the outcome of a batch is unknown, a later refusal of the same batch does not make it known.
 * commit-6  Appends of runs in progress come before new ones, so that few runs are under way at once and release their memory soon;
 *           new appends still get a share of every batch.
 * commit-7  While the store is full or its file is missing, and every batch under way waits for it, new appends are refused at once with
 *           the store's reason. They are never left waiting.
 * commit-9  When the ledger refuses a batch for good, its appends are sent one by one, so that one that cannot be written does not make
 *           the others fail.
 * commit-8  When the process closes, waiting and later sources are answered (SHUTTING_DOWN). None is left waiting.
 */
import { IntrusiveQueue, type QueueItem } from '#engine/hot/intrusive-queue.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { StreamId } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'
import type { Written } from './observers.ts'
import { pauseAfter } from './store-retry.ts'

export interface AppendSource extends QueueItem<AppendSource> {
  /** Flags that only Commit changes, false at first: sets of thousands of sources that change with every step would cost more than the steps. */
  isWaiting: boolean
  isBusy: boolean
  /** Whether it comes from outside, like an event or a command, and not from a run in memory. */
  readonly isNew: boolean
  /** Returns what to write now; null if there is nothing. Not called again before settle or failed. */
  next(): Append | null
  settle(outcome: Outcome): void
  /** The ledger could not take the append. `keep`: send it again later. */
  failed(error: TrihandError): 'keep' | 'drop'
}

export interface CommitOptions {
  /** How many steps a batch may hold. An append that takes longer counts for several, so that no batch blocks the event loop for long. */
  readonly maxBatch: number
  readonly maxInFlight: number
}

export interface CommitListener {
  /** Called for each append that is on disk, after its source was settled. */
  written(append: Append): void
  /** Called for each batch that the ledger has answered. */
  answered(batch: Written): void
  /** Called for each batch that the ledger has refused; `kept` of its appends are sent again. */
  refused(error: TrihandError, appends: number, kept: number): void
}

interface Entry {
  readonly source: AppendSource
  readonly append: Append
}

interface Batch {
  readonly sources: readonly AppendSource[]
  readonly appends: readonly Append[]
}

/** A batch while it is being made. */
interface Gathering extends Batch {
  readonly sources: AppendSource[]
  readonly appends: Append[]
  readonly written: Set<StreamId>
  weight: number
}

/** Counted in steps: an event with the run it starts takes about three times as long, in the ledger and in the turn that answers it. */
const weightOf = ({ writes, events }: Append): number => Math.max(1, writes.length) + 2 * events.length

const isFree = ({ isBusy }: AppendSource): boolean => !isBusy

/** The share of a batch that is kept for new appends, however many runs are in progress. */
const SHARE_OF_NEW = 1 / 8

/** How often a batch with an unknown outcome is sent again before its callers learn that the outcome is unknown. */
const MAX_RESENDS = 12

/** Errors that last until a person does something: callers are not kept waiting for their end. */
const LASTING: ReadonlySet<ErrorCode> = new Set(['STORAGE_FULL', 'LEDGER_MISSING'])

export class Commit {
  private readonly ledger: Pick<Ledger, 'append'>
  private readonly clock: Clock
  private readonly ids: Ids
  private readonly options: CommitOptions
  private readonly tell: CommitListener
  private readonly begun = new IntrusiveQueue<AppendSource>()
  private readonly fresh = new IntrusiveQueue<AppendSource>()
  private postponed: Entry[] = []
  private watchers: (() => void)[] = []
  private inFlight = 0
  private scheduled = false
  private stopped = false
  private lastTrouble: TrihandError | null = null

  constructor(
    deps: { readonly ledger: Pick<Ledger, 'append'>; readonly clock: Clock; readonly ids: Ids },
    options: CommitOptions,
    tell: CommitListener = { written: () => {}, answered: () => {}, refused: () => {} },
  ) {
    this.ledger = deps.ledger
    this.clock = deps.clock
    this.ids = deps.ids
    this.options = options
    this.tell = tell
  }

  /** Asks for `next` to be called once everything that is ready in this turn has been gathered. */
  request(source: AppendSource): void {
    if (this.stopped) return void source.failed(shuttingDown())
    if (source.isNew && !source.isWaiting && this.isJammed && this.refuse(source)) return
    if (!source.isWaiting) (source.isNew ? this.fresh : this.begun).add(source)
    source.isWaiting = true
    this.schedule()
  }

  /** True while a batch is under way or waits for its turn. */
  get pending(): boolean {
    return this.inFlight > 0 || !this.begun.isEmpty || !this.fresh.isEmpty || this.postponed.length > 0
  }

  /** Settles when the next batch is over; at once if there is none. */
  batchOver(): Promise<void> {
    return this.pending && !this.stopped ? new Promise((resolve) => this.watchers.push(resolve)) : Promise.resolve()
  }

  private endWatch(): void {
    const watchers = this.watchers
    this.watchers = []
    for (const resolve of watchers) resolve()
  }

  /** What the ledger refused last; null once it has taken a batch. */
  get trouble(): TrihandError | null {
    return this.lastTrouble
  }

  /** No further batch begins; what is under way may still settle (commit-8). */
  stop(): void {
    this.stopped = true
    const left = this.postponed.map(({ source }) => source)
    for (const source of left) source.isBusy = false
    for (const line of [this.begun, this.fresh])
      for (let source = line.take(); source !== null; source = line.take()) {
        source.isWaiting = false
        // A busy source is answered by its batch.
        if (!source.isBusy) left.push(source)
      }
    this.postponed = []
    for (const source of left) source.failed(shuttingDown())
    this.endWatch()
  }

  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.options.maxInFlight) return
    this.scheduled = true
    this.clock.defer(() => {
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

  /** commit-7. */
  private get isJammed(): boolean {
    const { lastTrouble, inFlight, options } = this
    return lastTrouble !== null && LASTING.has(lastTrouble.code) && inFlight >= options.maxInFlight
  }

  /** False: the source keeps its append and waits. */
  private refuse(source: AppendSource): boolean {
    const { code, detail } = this.lastTrouble as TrihandError
    return source.failed(new TrihandError(code, detail)) === 'drop'
  }

  private refuseFresh(): void {
    const kept = new IntrusiveQueue<AppendSource>()
    for (let source = this.fresh.take(); source !== null; source = this.fresh.take()) {
      source.isWaiting = false
      if (this.refuse(source)) continue
      source.isWaiting = true
      kept.add(source)
    }
    this.fresh.letIn(kept)
  }

  private hasReady(): boolean {
    return this.postponed.length > 0 || !this.fresh.isEmpty || this.begun.some(isFree)
  }

  private gather(): Batch {
    const batch: Gathering = { sources: [], appends: [], written: new Set(), weight: 0 }
    const postponed = this.postponed
    this.postponed = []
    for (const { source, append } of postponed) this.take(source, append, batch)
    const { maxBatch } = this.options
    const share = this.fresh.isEmpty ? 0 : Math.ceil(maxBatch * SHARE_OF_NEW)
    this.draw(this.begun, batch, maxBatch - share)
    this.draw(this.fresh, batch, maxBatch)
    this.draw(this.begun, batch, maxBatch)
    return batch
  }

  /** Asks the sources in order until the batch has this weight, also those that arrive meanwhile. Busy sources stay first in the queue. */
  private draw(line: IntrusiveQueue<AppendSource>, batch: Gathering, limit: number): void {
    const busy = new IntrusiveQueue<AppendSource>()
    while (batch.weight < limit) {
      const source = line.take()
      if (source === null) break
      if (source.isBusy) {
        busy.add(source)
        continue
      }
      source.isWaiting = false
      const append = this.ask(source)
      if (append === null) continue
      source.isBusy = true
      this.take(source, append, batch)
    }
    if (!this.stopped) line.letIn(busy)
  }

  /** commit-4: two sources may write one session, or a run's holder and a command from outside may write one run. */
  private take(source: AppendSource, append: Append, batch: Gathering): void {
    for (const { stream, create } of append.writes) {
      if (create === null && batch.written.has(stream)) {
        this.postponed.push({ source, append })
        return
      }
    }
    for (const { stream } of append.writes) batch.written.add(stream)
    batch.weight += weightOf(append)
    batch.sources.push(source)
    batch.appends.push(append)
  }

  /** A source whose `next` throws must not stop the others. */
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
    let isOutcomeUnknown = false
    for (let tries = 0; batch.appends.length > 0 && !this.stopped; tries++) {
      try {
        const since = this.clock.now()
        const outcomes = await this.ledger.append(batch.appends)
        this.lastTrouble = null
        this.tell.answered({ appends: batch.appends, outcomes, ms: this.clock.now() - since })
        this.settle(batch, outcomes)
        break
      } catch (cause) {
        const error = asLedgerError(cause, isOutcomeUnknown)
        isOutcomeUnknown = error.outcome === 'unknown'
        this.lastTrouble = error
        const { length } = batch.appends
        if (length > 1 && !error.retryable && !isOutcomeUnknown) return this.writeEach(batch)
        batch = this.keep(batch, error, tries)
        this.tell.refused(error, length, batch.appends.length)
        if (batch.appends.length > 0 && this.isJammed) this.refuseFresh()
        if (batch.appends.length > 0) await pauseAfter({ clock: this.clock, ids: this.ids }, tries)
      }
    }
    // commit-8: what was sent may have been written.
    if (this.stopped) for (const source of batch.sources) if (source.isBusy) source.failed(shuttingDown('unknown'))
    this.inFlight--
    if (this.hasReady()) this.schedule()
    this.endWatch()
  }

  /** commit-9. */
  private async writeEach({ sources, appends }: Batch): Promise<void> {
    this.inFlight--
    for (const [i, append] of appends.entries()) {
      this.inFlight++
      await this.write({ sources: [sources[i] as AppendSource], appends: [append] })
    }
  }

  private settle(batch: Batch, outcomes: readonly Outcome[]): void {
    batch.sources.forEach((source, i) => {
      source.isBusy = false
      const outcome = outcomes[i] as Outcome
      source.settle(outcome)
      if (outcome.kind === 'written') this.tell.written(batch.appends[i] as Append)
    })
  }

  /** commit-2, commit-3: while the outcome is unknown the whole batch is sent again; after a definite refusal each source decides. */
  private keep(batch: Batch, error: TrihandError, tries: number): Batch {
    if (error.outcome === 'unknown' && tries < MAX_RESENDS && !LASTING.has(error.code)) return batch
    const kept = batch.sources
      .map((source, i) => ({ source, append: batch.appends[i] as Append }))
      .filter(({ source }) => {
        if (source.failed(error) === 'keep') return true
        source.isBusy = false
        return false
      })
    return { sources: kept.map((entry) => entry.source), appends: kept.map((entry) => entry.append) }
  }
}

const shuttingDown = (outcome: TrihandError['outcome'] = 'not_done'): TrihandError =>
  new TrihandError('SHUTTING_DOWN', 'this process is shutting down', { outcome })

/** commit-5. */
const asLedgerError = (error: unknown, isOutcomeUnknown: boolean): TrihandError => {
  if (!(error instanceof TrihandError)) {
    const detail = 'the ledger adapter threw an error that is not a TrihandError'
    return new TrihandError('INTERNAL', detail, { cause: error, outcome: 'unknown' })
  }
  if (!isOutcomeUnknown || error.outcome === 'unknown') return error
  return new TrihandError(error.code, error.detail, { cause: error, outcome: 'unknown' })
}
