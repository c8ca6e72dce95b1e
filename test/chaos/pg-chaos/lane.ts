/**
 * One client of a shared Postgres ledger: its own connections through its own proxy, its own traffic, and the answers that it received.
 *
 * Owns the bookkeeping of the resend rule: which appends were acknowledged, which refused, how many outcomes were unknown.
 */
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'
import { insistentBlobs, insistentLedger, type Trouble } from '#test/support/insistent.ts'
import type { Random } from '#test/support/random.ts'
import { type Cut, PgProxy, randomCut } from '#test/support/stores/pg-proxy.ts'
import { type Receipt, Traffic } from '#test/support/traffic/traffic.ts'
import { breath } from '#test/support/until.ts'

/** Every append of the traffic has an id with this prefix, and no other data on the connection does. */
const MARK = 'app_'
const CUT_PROBABILITY = 0.6

export interface LaneOptions {
  readonly url: string
  readonly schema: string
  readonly random: Random
  readonly trouble: (trouble: Trouble) => void
  /** The control: resends appends with unknown outcome under a new id, as if they had not happened. The checks must find that. */
  readonly isForgetful: boolean
}

export class Lane {
  readonly #options: LaneOptions
  readonly #proxy: PgProxy
  #inDoubt = false
  readonly receipts: Receipt[] = []
  readonly refused: string[] = []
  unknowns = 0
  /** Batches with unknown outcome, by what the resend found. */
  readonly doubts = { done: 0, notDone: 0 }
  isOpen = false
  /** When the last acknowledgement arrived, by the monotonic clock. */
  acknowledgedAt = 0
  /** Black holes are few, because each costs the client its whole timeout. */
  blackHoles = 0

  constructor(options: LaneOptions) {
    this.#options = options
    this.#proxy = new PgProxy(options.url, MARK)
  }

  get cuts(): ReadonlyMap<Cut['kind'], number> {
    return this.#proxy.fired
  }

  /** Works, with its connection cut again and again, until asked to stop; its last batch is answered then. */
  async run(stop: () => boolean): Promise<void> {
    const { schema, random, trouble } = this.#options
    const opened = await openPostgres({ url: await this.#proxy.open(), schema, max: 3 })
    this.isOpen = true
    const ledger = insistentLedger(opened.ledger, (met) => {
      if (met.call === 'append' && met.outcome === 'unknown') {
        this.#inDoubt = true
        this.unknowns += 1
      }
      trouble(met)
    })
    const traffic = new Traffic({
      ledger: { ...ledger, append: (batch) => this.#append(ledger, batch) },
      blobs: insistentBlobs(opened.blobs, trouble),
      random,
      width: 6,
      refuse: (append) => this.refused.push(append),
      acknowledge: (receipts) => {
        this.receipts.push(...receipts)
        this.acknowledgedAt = performance.now()
      },
    })
    try {
      while (!stop()) {
        if (random.chance(CUT_PROBABILITY)) this.#proxy.arm(this.#nextCut())
        await traffic.turn()
        await breath()
      }
    } finally {
      await opened.close()
      await this.#proxy.close()
    }
  }

  /** The real result of an unknown outcome: the resent batch shows whether it had been written. */
  async #append(ledger: Ledger, batch: readonly Append[]): Promise<readonly Outcome[]> {
    this.#inDoubt = false
    const outcomes = await ledger.append(batch)
    if (this.#inDoubt && this.#options.isForgetful) return ledger.append(batch.map(renamed))
    if (this.#inDoubt) {
      if (outcomes.some((outcome) => outcome.kind === 'already_written')) this.doubts.done += 1
      else this.doubts.notDone += 1
    }
    return outcomes
  }

  #nextCut(): Cut {
    if (this.blackHoles === 0) return randomCut(this.#options.random)
    this.blackHoles -= 1
    return { kind: 'black_hole' }
  }
}

const renamed = (append: Append): Append => ({ ...append, appendId: `${append.appendId}_again` })
