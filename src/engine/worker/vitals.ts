/**
 * What this process knows of its own state: whether the ledger takes its writes, how much it holds, whether it is woken.
 *
 * Owns the last signs of the ledger. Judges nothing (model/kernel/readiness.ts) and repeats nothing: whoever serves asks for a probe.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, SERVER_TENANT } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { DocumentWrite, Ledger } from '#ports/ledger.ts'

interface Deps {
  readonly clock: Pick<Clock, 'now'>
  /** Of the last batch. */
  readonly commitTrouble: () => TrihandError | null
  readonly note: (documents: readonly DocumentWrite[]) => Promise<void>
  readonly slots: number
  readonly free: () => number
  /** Of each tenant. */
  readonly backlogs: () => readonly Backlog[]
  /** Absent: the dispatcher lives in this process. */
  readonly checkDispatcher?: () => Promise<string | null>
}

export interface Capacity {
  /** False: this process performs nothing. */
  readonly works: boolean
  readonly slots: number
  /** Runs in memory or about to be. */
  readonly used: number
}

/** Calls that wait for the ledger. */
export interface Backlog {
  readonly waiting: number
  /** How long the first of them has waited. */
  readonly oldestMs: number
}

type BeatLedger = Pick<Ledger, 'load' | 'events' | 'claim' | 'beat' | 'retire'>

const PROBE_TABLE = 'trihand.health'
const PROBE_KEY = 'probe'

export class Vitals {
  private readonly deps: Deps
  /** Between start and stop of the worker. */
  works = false
  private lastWriteAt: Instant | null = null
  private beatTrouble: TrihandError | null = null

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** When the ledger last took a write of this process; null: none was tried. */
  get wroteAt(): Instant | null {
    return this.lastWriteAt
  }

  /** What it refused last; null: it takes everything. */
  get trouble(): TrihandError | null {
    return this.deps.commitTrouble() ?? this.beatTrouble
  }

  get capacity(): Capacity {
    const { slots, free } = this.deps
    return { works: this.works, slots, used: slots - free() }
  }

  get backlog(): Backlog {
    const all = this.deps.backlogs()
    const waiting = all.reduce((sum, one) => sum + one.waiting, 0)
    return { waiting, oldestMs: Math.max(0, ...all.map(({ oldestMs }) => oldestMs)) }
  }

  /** The ledger took a write. */
  wrote(): void {
    this.lastWriteAt = this.deps.clock.now()
    this.beatTrouble = null
  }

  /** One small write through the path of every other one. What it meets shows in `trouble`. */
  async probe(): Promise<void> {
    const value = { at: this.deps.clock.now() }
    await this.deps.note([{ tenant: SERVER_TENANT, table: PROBE_TABLE, key: PROBE_KEY, value }]).catch(() => {})
  }

  /** Why wakes of other processes do not arrive; null: they do. */
  dispatcherTrouble(): Promise<string | null> {
    const { checkDispatcher = () => Promise.resolve(null) } = this.deps
    return checkDispatcher().catch((error: unknown) => String(error))
  }

  /** A worker's beats are writes, too: while it beats nobody needs a probe. */
  around(ledger: BeatLedger): BeatLedger {
    const { load, events, claim, retire } = ledger
    return {
      ...{ load, events, claim, retire },
      beat: async (request) => {
        try {
          const freed = await ledger.beat(request)
          this.wrote()
          return freed
        } catch (error) {
          if (error instanceof TrihandError) this.beatTrouble = error
          throw error
        }
      },
    }
  }
}
