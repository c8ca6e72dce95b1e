/**
 * The health data of this process: does the ledger accept its writes, how full is it, do wakes arrive.
 *
 * Owns the last results of ledger writes. Never judges them (model/kernel/readiness.ts) and never repeats a write: the server asks for
 * a probe.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, SERVER_TENANT } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { DocumentWrite, Ledger } from '#ports/ledger.ts'

interface Deps {
  readonly clock: Pick<Clock, 'now'>
  /** The error of the last batch; null if it was written. */
  readonly commitTrouble: () => TrihandError | null
  readonly note: (documents: readonly DocumentWrite[]) => Promise<void>
  readonly slots: number
  readonly free: () => number
  /** The backlog of each tenant. */
  readonly backlogs: () => readonly Backlog[]
  /** Absent if the dispatcher is in this process. */
  readonly checkDispatcher?: () => Promise<string | null>
}

export interface Capacity {
  /** False if this process performs no runs. */
  readonly works: boolean
  readonly slots: number
  /** Runs in memory, and reserved slots. */
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
  /** True between start and stop of the worker. */
  works = false
  private lastWriteAt: Instant | null = null
  private beatTrouble: TrihandError | null = null

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** When the ledger last accepted a write of this process; null if it has accepted none. */
  get wroteAt(): Instant | null {
    return this.lastWriteAt
  }

  /** The error of the last write; null if the ledger accepts writes. */
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

  /** Records that the ledger accepted a write. */
  wrote(): void {
    this.lastWriteAt = this.deps.clock.now()
    this.beatTrouble = null
  }

  /** Makes one small write on the same path as every other write. Its error shows in `trouble`. */
  async probe(): Promise<void> {
    const value = { at: this.deps.clock.now() }
    await this.deps.note([{ tenant: SERVER_TENANT, table: PROBE_TABLE, key: PROBE_KEY, value }]).catch(() => {})
  }

  /** Returns why wakes of other processes do not arrive; null if they do. */
  dispatcherTrouble(): Promise<string | null> {
    const { checkDispatcher = () => Promise.resolve(null) } = this.deps
    return checkDispatcher().catch((error: unknown) => String(error))
  }

  /** Records heartbeats as writes: while the worker sends them, no probe is needed. */
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
