/**
 * The only writer of the ledger: gathers the appends of one moment into one batch, and answers each when it is on disk.
 *
 * Owns group commit, the resend after an unknown outcome and the wait while the store is away. Never decides what is written.
 *
 * commit-1  A source has at most one append under way; what it wants to write meanwhile goes into its next one.
 * commit-2  After an unknown outcome the same batch is sent again, with the same append ids, until the ledger answers.
 * commit-3  A source that must not lose its append (a finished step) is kept and sent again while the store is full or down.
 * commit-4  A batch writes an existing stream once: a second append to it waits for the next batch.
 * commit-5  Once the outcome of a batch is unknown, a later refusal of the same batch does not make it known.
 * commit-6  What is begun comes before what is new, so that few runs are under way at once and what they hold in memory is soon
 *           over; what is new has a share of every batch all the same.
 * commit-7  While the store is full or its file is missing, and every batch under way waits for it, what is new is refused at once with
 *           the store's reason. It is never left waiting.
 * commit-9  What the ledger refuses for good is found out: the appends of a refused batch are sent one by one, so that one that cannot be
 *           written takes no other along.
 * commit-8  When the process closes, whoever waits and whoever still comes is answered (SHUTTING_DOWN). Nobody is left waiting.
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
  /** The commit's own marks: sets of thousands that change with every step would cost more than the steps. False at first. */
  isWaiting: boolean
  isBusy: boolean
  /** Whether it comes from outside, as an event or a command does, and not from a run in memory. */
  readonly isNew: boolean
  /** What to write now; null if there is nothing. Not called again before settle or failed. */
  next(): Append | null
  settle(outcome: Outcome): void
  /** The ledger could not take the append. `keep`: send it again later. */
  failed(error: TrihandError): 'keep' | 'drop'
}

export interface CommitOptions {
  /** How many steps a batch may hold; what takes longer counts for several, so that no batch holds the event loop for long. */
  readonly maxBatch: number
  readonly maxInFlight: number
}

export interface CommitListener {
  /** Each append that is on disk, after whoever wanted it was told. */
  written(append: Append): void
  /** Each batch that the ledger has answered. */
  answered(batch: Written): void
  /** Each batch that the ledger has refused; `kept` of its appends are sent again. */
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

/** In steps: an event with the run it starts takes about three times as long, in the ledger and in the turn that answers it. */
const weightOf = ({ writes, events }: Append): number => Math.max(1, writes.length) + 2 * events.length

const isFree = ({ isBusy }: AppendSource): boolean => !isBusy

/** Of a batch, for what is new, however much is begun. */
const SHARE_OF_NEW = 1 / 8

/** How long a caller waits for a store uncertain before it is told that the outcome is unknown. */
const MAX_RESENDS = 12

/** Troubles that last until a person does something: nobody is kept waiting for their end. */
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
        // One that is at work is answered by its batch.
        if (!source.isBusy) left.push(source)
      }
    this.postponed = []
    for (const source of left) source.failed(shuttingDown())
    this.endWatch()
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

  /** commit-7. */
  private get isJammed(): boolean {
    const { lastTrouble, inFlight, options } = this
    return lastTrouble !== null && LASTING.has(lastTrouble.code) && inFlight >= options.maxInFlight
  }

  /** False: it wants to wait all the same. */
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

  /** Asks one after the other until the batch has this weight; whoever comes meanwhile is asked too. Who is busy stays first in line. */
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

  /** commit-4: two writers of one session, or a run's holder and a command from outside. */
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

  /** commit-2, commit-3: uncertain everything is sent again; a definite refusal is put to each source. */
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
  new TrihandError('SHUTTING_DOWN', 'this process closes', { outcome })

/** commit-5. */
const asLedgerError = (error: unknown, isOutcomeUnknown: boolean): TrihandError => {
  if (!(error instanceof TrihandError)) {
    const detail = 'the ledger adapter threw a foreign error'
    return new TrihandError('INTERNAL', detail, { cause: error, outcome: 'unknown' })
  }
  if (!isOutcomeUnknown || error.outcome === 'unknown') return error
  return new TrihandError(error.code, error.detail, { cause: error, outcome: 'unknown' })
}
