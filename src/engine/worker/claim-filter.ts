/**
 * Decides which handlers this worker takes: at once, after a short delay (`PATIENCE_MS`), or never.
 *
 * Owns the answer for the current system and the living workers. The rule is model/worker/placement.ts; the ledger assigns the runs.
 *
 * claim-filter-1  Other workers are looked up only if a handler prefers some workers or a pool has a limit; outdated data delays a run, never loses it.
 * claim-filter-2  A run that is left to other workers is taken once it has been due for the delay, whichever workers live.
 * claim-filter-3  A sticky run that was parked here is claimed by its id; one that is no longer remembered waits for the delay, no longer.
 * claim-filter-5  Runs of other versions are taken over only for handlers that this worker's system has and that fit here (model/worker/pin.ts).
 * claim-filter-4  A standby worker takes nothing, and no worker leaves runs to it; it notices within one heartbeat that it may take runs.
 */
import type { System } from '#manifest/define/system.ts'
import { queueSource } from '#manifest/flow/queues.ts'
import type { ClaimableId, Instant, WorkerId } from '#model/kernel/ids.ts'
import { DEFAULT_PIN, NO_VERSION, noHandlerFor, type Takeover, type Taker } from '#model/worker/pin.ts'
import {
  ANYWHERE,
  misfit,
  type Placement,
  PREFERENCE_DELAY_MS,
  type Share,
  shareOf,
  takersOf,
} from '#model/worker/placement.ts'
import { takesRuns, type WorkerInfo, type WorkerPlace } from '#model/worker/worker-info.ts'
import type { ClaimRequest, Claims } from '#ports/ledger.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'

/** Maximum number of workers that are compared. */
const MAX_OTHERS = 1_000

/** How many of the runs parked here are remembered: the most recent ones. */
const MAX_REMEMBERED = 1_000

/** Maximum number of handlers published with a heartbeat; beyond it the worker counts as one that takes every handler of its version. */
const MAX_TOLD = 500

type AskClaim = (what: Pick<ClaimRequest, 'limit' | 'handlers' | 'only' | 'taker'>) => Promise<Claims>

const NOTHING: Claims = { claims: [], nextDueAt: null }

const both = (a: Claims, b: Claims): Claims => ({
  claims: [...a.claims, ...b.claims],
  nextDueAt:
    a.nextDueAt === null || b.nextDueAt === null ? (a.nextDueAt ?? b.nextDueAt) : Math.min(a.nextDueAt, b.nextDueAt),
  ...(a.moved === undefined && b.moved === undefined ? {} : { moved: (a.moved ?? 0) + (b.moved ?? 0) }),
  records: [...(a.records ?? []), ...(b.records ?? [])],
  events: [...(a.events ?? []), ...(b.events ?? [])],
})

const ALL: Share = { atOnce: null, later: [], returning: [] }
const NONE: Share = { atOnce: [], later: [], returning: [] }

/** Placements by the handler's name on a stream. Coordinators of schedules and queues perform no step, so any worker may run them. */
const placementsOf = ({ functions, schedules, queues }: System): ReadonlyMap<string, Placement> =>
  new Map([
    ...[...schedules.keys(), ...[...queues.keys()].map(queueSource)].map((name) => [name, ANYWHERE] as const),
    ...[...functions.values()].map(({ name, placement }) => [name, placement] as const),
  ])

/** The part of a waiting run that decides which workers may take it. Without a version: any worker that has its handler. */
export type WaitingRun = Pick<RunSummary, 'handler' | 'leased' | 'wakeAt'> & { readonly systemHash?: string }

/** How long a run is due before the lack of a worker is reported; also the maximum age of a living worker's heartbeat. */
const NOTICED_AFTER_MS = 30_000

/** Returns why no living worker takes a run that is due. Null while a worker that fits may still take it. */
export const noWorkerFor = async (
  { handler, leased, wakeAt, systemHash: version = NO_VERSION }: WaitingRun,
  world: { readonly system: System; readonly now: Instant; readonly workers: Reader['workers'] },
): Promise<string | null> => {
  if (leased || wakeAt === null || wakeAt > world.now) return null
  const all = await world.workers({ after: null, limit: MAX_OTHERS })
  const living = all.filter(({ beatAt }) => world.now - beatAt < NOTICED_AFTER_MS)
  const declared = world.system.functions.get(handler)?.placement
  // This process lacks the code: the data of the other workers shows if one of them has it.
  const placement = declared?.lacksCode === true ? undefined : declared
  const isNoticed = placement !== undefined && world.now - wakeAt >= NOTICED_AFTER_MS
  if (living.length === 0) return isNoticed ? 'NO_WORKER: no worker is running' : null
  const taking = living.filter(({ info }) => info === null || takesRuns(info))
  if (taking.length === 0)
    return isNoticed
      ? `NO_WORKER: none of ${living.length} workers takes runs: they are paused, stopped or stopping`
      : null
  const lacks = taking.map(({ info }) => (info === null || placement === undefined ? null : misfit(info, placement)))
  const fitting = taking.filter((_, i) => lacks[i] === null)
  if (fitting.length === 0)
    return isNoticed ? `NO_WORKER: none of ${taking.length} workers has ${[...new Set(lacks)].join('; ')}` : null
  const infos = fitting.flatMap(({ info }) => info ?? [])
  return infos.length < fitting.length ? null : noHandlerFor({ handler, version }, infos)
}

export class ClaimFilter {
  private readonly place: WorkerPlace
  private readonly system: () => System
  private readonly workers: Reader['workers']
  private others: readonly WorkerPlace[] = []
  private standsBy = false
  private readonly parked = new Set<ClaimableId>()
  private known: {
    readonly system: System
    readonly share: Share
    readonly isRanked: boolean
    readonly fitting: readonly string[]
    readonly takesOver: readonly Takeover[]
    /** Handlers whose runs belong to no version: they are claimed separately. */
    readonly free: readonly string[]
  } | null = null

  constructor(place: WorkerPlace, system: () => System, workers: Reader['workers']) {
    this.place = place
    this.system = system
    this.workers = workers
  }

  get current(): Share {
    return this.look().share
  }

  /** Returns the version for which this worker claims, optionally with the handlers that it takes over from other versions (claim-filter-5). */
  taker(withOthers: boolean): Taker {
    const { system, takesOver } = this.look()
    return withOthers ? { version: system.hash, takesOver } : { version: system.hash }
  }

  /** The public description of the code in this process. */
  get told(): Pick<WorkerInfo, 'version' | 'handlers' | 'ownOnly'> {
    const { system, fitting, takesOver } = this.look()
    const handlers = fitting.length > MAX_TOLD ? null : fitting
    const others = new Set(takesOver.map(({ handler }) => handler))
    const ownOnly = fitting.filter((handler) => !others.has(handler))
    return { version: system.hash, handlers, ...(ownOnly.length > 0 && { ownOnly: ownOnly.slice(0, MAX_TOLD) }) }
  }

  /** True if a run of this handler may begin here now. */
  takes(handler: string): boolean {
    const { atOnce, later, returning } = this.current
    return atOnce === null || atOnce.includes(handler) || (returning.includes(handler) && !later.includes(handler))
  }

  /** Returns what this worker lacks for the handler; null if it may run it, even if other workers are preferred. */
  misfit(handler: string): string | null {
    const definition = this.system().functions.get(handler)
    return definition === undefined ? null : misfit(this.place, definition.placement)
  }

  /** claim-filter-3: remembers a parked stream. `handler`: null for a coordinator, which is always remembered if any handler is sticky. */
  remember(stream: ClaimableId, handler: string | null): void {
    const { returning } = this.current
    if (returning.length === 0 || (handler !== null && !returning.includes(handler))) return
    this.parked.delete(stream)
    this.parked.add(stream)
    const [oldest] = this.parked
    if (this.parked.size > MAX_REMEMBERED && oldest !== undefined) this.parked.delete(oldest)
  }

  /** Claims at most `limit` runs that belong here: first its own, then those parked here, then those that other workers have left. */
  async claim(ask: AskClaim, now: Instant, limit: number): Promise<Claims> {
    const { atOnce, later, returning } = this.current
    let all = atOnce?.length === 0 ? NOTHING : await ask({ limit, handlers: atOnce })
    const more = async (claim: (room: number) => Promise<Claims>): Promise<void> => {
      const room = limit - all.claims.length
      if (room > 0) all = both(all, await claim(room))
    }
    try {
      if (returning.length > 0) await more((room) => this.claimBack(ask, room, returning))
      const left = [...new Set([...later, ...returning])]
      if (left.length > 0) await more((room) => this.claimLeft(ask, now, room, left))
      const free = this.look().free
      if (free.length > 0) await more((limit) => ask({ limit, handlers: free, taker: { version: NO_VERSION } }))
    } catch {
      // The runs claimed so far are worked on; the next poll claims the rest.
    }
    return all
  }

  /** Returns no `nextDueAt`: this worker's own timer or the dispatcher handles the instants of parked runs. */
  private async claimBack(ask: AskClaim, limit: number, handlers: readonly string[]): Promise<Claims> {
    if (this.parked.size === 0) return NOTHING
    const claims = await ask({ limit, handlers, only: [...this.parked] })
    for (const { stream } of claims.claims) this.parked.delete(stream)
    return { ...claims, nextDueAt: null }
  }

  private async claimLeft(ask: AskClaim, now: Instant, limit: number, later: readonly string[]): Promise<Claims> {
    const { nextDueAt } = await ask({ limit: 0, handlers: later })
    if (nextDueAt === null) return NOTHING
    // The ledger's clock may differ: that makes the delay longer or shorter, nothing else.
    const ripeAt = nextDueAt + PREFERENCE_DELAY_MS
    return ripeAt > now ? { claims: [], nextDueAt: ripeAt } : ask({ limit, handlers: later })
  }

  /** Reads the other living workers. `own`: is this a name of this process? */
  async refresh(own: (id: WorkerId) => boolean): Promise<void> {
    if (!this.look().isRanked) return
    const { pools } = this.system()
    const living = await this.workers({ after: null, limit: MAX_OTHERS })
    const known = living.flatMap(({ id, info }) => (info === null ? [] : [{ id, info }]))
    const takers = takersOf(known, (pool) => pools.get(pool)?.max ?? null)
    const isOwn = ({ id }: (typeof known)[number]): boolean => own(id)
    this.others = takers.flatMap((one) => (isOwn(one) ? [] : [one.info]))
    // A worker whose own heartbeat is not in the list yet does not stand by.
    this.standsBy = known.some((one) => isOwn(one) && takesRuns(one.info)) && !takers.some(isOwn)
    this.known = null
  }

  private look(): NonNullable<ClaimFilter['known']> {
    const system = this.system()
    if (this.known?.system !== system) {
      const placements = placementsOf(system)
      const isBounded = [...system.pools.values()].some(({ max }) => max !== null)
      const isRanked = isBounded || [...placements.values()].some(({ prefer, sticky }) => sticky || prefer.length > 0)
      const share = placements.size === 0 ? ALL : shareOf(this.place, this.others, placements)
      const fitting = [...placements].flatMap(([name, placement]) =>
        misfit(this.place, placement) === null ? name : [],
      )
      const takesOver = fitting.flatMap((handler): readonly Takeover[] => {
        const { mode, forMs } = placements.get(handler)?.pin ?? DEFAULT_PIN
        return mode === 'hard' ? [] : [{ handler, afterMs: forMs, isFree: mode === 'none' }]
      })
      const free = takesOver.flatMap(({ handler, isFree }) => (isFree ? handler : []))
      this.known = {
        system,
        share: this.standsBy ? NONE : share,
        isRanked,
        fitting,
        takesOver,
        free: this.standsBy ? [] : free,
      }
    }
    return this.known
  }
}
