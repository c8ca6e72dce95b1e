/**
 * The worker of one process: claims what is due, keeps runs in memory while they work, sends heartbeats, releases its runs when it stops.
 *
 * Owns slots, leases and the heartbeat. If the dispatcher loses a wake, the next poll finds the run in the ledger.
 *
 * worker-1  At most `slots` runs are at work in memory or have a reserved slot; other runs wait in the ledger, or in reserved-runs.ts.
 * worker-2  A lease that this worker has but does not use (a creation with unknown outcome, a dropped run) is given back.
 * worker-3  After stop nothing new begins; runs that are still at work after the drain are released, and the next worker finds them.
 * worker-4  While it drains it keeps sending heartbeats: its runs stay its own until they end or are released.
 * worker-5  It takes only runs that belong here (claim-filter.ts), and passes the wakes of runs that it does not take on to others.
 * worker-6  While it is paused it takes nothing new; while all workers are stopped, no step of its runs begins, either.
 */
import type { CoordinatorRelease } from '#engine/coordinators/coordinator.ts'
import { Coordinators } from '#engine/coordinators/coordinators.ts'
import type { EngineContext, WorkerApi } from '#engine/core/engine-context.ts'
import { JitteredInterval } from '#engine/core/jittered-interval.ts'
import { ActiveRun, type ReleaseReason, type RunHost } from '#engine/run/active-run.ts'
import { wakeAfter } from '#engine/run/append.ts'
import { quarantineBroken } from '#engine/run/broken-run.ts'
import { cancelRun } from '#engine/run/cancel-run.ts'
import { awaken, enterFresh, lookAgain } from '#engine/run/enter.ts'
import type { NewRun } from '#engine/run/new-run.ts'
import { claimOfReserved, ReservedRuns } from '#engine/run/reserved-runs.ts'
import { type RunRow, type RunSnapshot, rowOfNewRun } from '#engine/run/run-row.ts'
import { evict } from '#engine/step/defer-step.ts'
import { dropAfterStandstill } from '#engine/step/standstill.ts'
import type { StepErrors } from '#engine/step/step-driver.ts'
import { WakeCoalescer } from '#engine/wait/wake-coalescer.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ClaimableId, isClaimable, isRunId, type RunId, type TenantId, type WorkerId } from '#model/kernel/ids.ts'
import type { WorkerInfo, WorkerPlace } from '#model/worker/worker-info.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { ClaimRequest, Claims } from '#ports/ledger.ts'
import { ClaimFilter } from './claim-filter.ts'
import { ClaimLoop } from './claim-loop.ts'
import { type Claimed, loadClaimed } from './claimed.ts'
import { heartbeatMs, Leases } from './leases.ts'
import { OtherVersions } from './other-versions.ts'
import { WorkerControl } from './worker-control.ts'
import type { WorkerDeps, WorkerOptions } from './worker-options.ts'

const NOWHERE: WorkerPlace = { pool: null, labels: {}, modules: null }

type Taken = Pick<Claims, 'claims' | 'records' | 'events'>

const CLAIM_LIMIT = 256
const TRY_AGAIN_MS = 1_000

export class Worker implements WorkerApi {
  private readonly context: () => EngineContext
  private readonly contextOf: (tenant: TenantId) => EngineContext
  private readonly ledger: WorkerDeps['ledger']
  private readonly dispatcher: Dispatcher
  private readonly errors: StepErrors
  private readonly options: WorkerOptions
  readonly leases: Leases
  private readonly claimFilter: ClaimFilter
  private readonly control: WorkerControl
  private startedAt = 0
  private draining: Promise<void> | null = null
  private tellStopped: () => void = () => {}
  readonly whenStopped = new Promise<void>((resolve) => {
    this.tellStopped = resolve
  })
  private readonly activeRuns = new Map<RunId, ActiveRun>()
  private readonly coordinators: Coordinators
  private readonly wakeCoalescer = new WakeCoalescer()
  private readonly isIdle = (): boolean => this.activeRuns.size === 0 && this.coordinators.count === 0
  private readonly reservedRuns: ReservedRuns
  private reserved = 0
  private state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  private readonly claims = new ClaimLoop({
    clock: () => this.context().clock,
    isTaking: () => this.isTaking,
    hasRoom: () => this.free() > 0,
    claimSome: () => this.claimSome(),
    rested: () => this.beginReserved(),
  })
  private readonly others = new OtherVersions(() => this.claims.soon())
  private interval: JitteredInterval | null = null
  private dueTimer: { readonly at: number; readonly cancel: () => void } | null = null
  private readonly idle = new Set<() => void>()

  private readonly runHost: RunHost = {
    departed: (gone, releaseReason) => this.departed(gone, releaseReason),
    look: lookAgain,
  }

  constructor(deps: WorkerDeps, options: WorkerOptions) {
    this.context = deps.context
    this.contextOf = deps.contextOf
    this.ledger = deps.ledger
    this.dispatcher = deps.dispatcher
    this.errors = deps.errors
    this.options = options
    this.coordinators = new Coordinators({
      ...deps,
      departed: (...releaseReason) => this.coordinatorDeparted(...releaseReason),
    })
    const isUsed = (id: ClaimableId, epoch: number): boolean =>
      isRunId(id)
        ? this.activeRuns.get(id)?.record.epoch === epoch || this.reservedRuns.has(id)
        : this.coordinators.isHeld(id, epoch)
    const isNeeded = (name: WorkerId): boolean =>
      this.coordinators.needs(name) ||
      this.reservedRuns.needs(name) ||
      [...this.activeRuns.values()].some(({ record }) => record.lease === name)
    const { name, place = NOWHERE, isAlone = false } = options
    this.reservedRuns = new ReservedRuns(isAlone)
    const told = name === undefined ? {} : { info: () => this.info(name, place) }
    this.leases = new Leases({ ...deps, isUsed, isNeeded, isAlone, ...told }, options.id, options.leaseTtlMs)
    this.claimFilter = new ClaimFilter(place, () => this.context().system(), deps.workers)
    this.control = new WorkerControl(deps.ledger, () => this.context().tenant, this.leases)
  }

  /** Recovers before it serves: the first heartbeat frees the leases of dead workers, the first claim takes what is due. */
  async start(): Promise<void> {
    if (this.state !== 'new') return
    this.startedAt = this.context().clock.now()
    await this.beat()
    const { clock, ids } = this.context()
    this.state = 'running'
    const opened = this.lookForOrders().then(() => this.dispatcher.start(() => this.others.woken(clock.now())))
    // A second start must start everything: a worker without its heartbeats would keep what it takes, and do nothing with it.
    await opened.catch((error: unknown) => {
      if (this.state === 'running') this.state = 'new'
      throw error
    })
    const { leaseTtlMs, pollMs, sweepMs = leaseTtlMs } = this.options
    // A heartbeat also frees the leases of dead workers: where others may die it is frequent, so that their runs wait no longer than the lease.
    const [isHere, isRunning] = [() => this.state !== 'stopped', () => this.state === 'running']
    this.interval = new JitteredInterval(clock, ids)
    this.interval.every(Math.min(heartbeatMs(leaseTtlMs), sweepMs), () => void this.beat().catch(() => {}), isHere)
    // A change that another process made to a run in memory here is noticed within a third of the lease.
    const compare = (): void =>
      void this.wakeCoalescer.compare(this.ledger, [...this.activeRuns.values()]).catch(() => {})
    this.interval.every(heartbeatMs(leaseTtlMs), compare, isHere)
    this.interval.every(pollMs, () => this.others.polled(), isRunning)
    this.claims.soon()
  }

  async stop(): Promise<void> {
    await this.drain()
    await this.dispatcher.stop()
  }

  /** Takes nothing new, lets runs at work finish, releases the rest. Still wakes other workers for what this process starts. */
  drain(): Promise<void> {
    this.draining ??= this.leave().finally(() => this.tellStopped())
    return this.draining
  }

  private async leave(): Promise<void> {
    const wasNew = this.state === 'new'
    this.state = 'stopping'
    this.dueTimer?.cancel()
    // So that other workers leave no run to this one, and people see that it leaves.
    if (!wasNew && this.options.name !== undefined) void this.leases.beat().catch(() => {})
    if (!wasNew) await this.drained()
    this.state = 'stopped'
    this.interval?.stop()
    this.coordinators.drop()
    for (const activeRun of [...this.activeRuns.values()])
      activeRun.drop('dropped', { code: 'STEP_ABORTED', message: 'the worker is stopping' })
    if (!wasNew) await this.leases.retire()
  }

  /** Reads new orders and follows them at once. */
  async lookForOrders(): Promise<void> {
    if (this.state !== 'running' || this.options.name === undefined || !(await this.control.look())) return
    if (this.control.standing.drains) return void this.drain().catch(() => {})
    if (this.isStopped) for (const activeRun of [...this.activeRuns.values()]) evict(activeRun)
    if (!this.isTaking) this.coordinators.letGo()
    // So that other workers leave nothing to this one while it takes nothing, and people see it. If it fails, the next heartbeat publishes it.
    await this.sayThatItLives().catch(() => {})
    this.claims.soon()
  }

  private get isTaking(): boolean {
    return this.state === 'running' && this.control.takesAny
  }

  get activeRunCount(): number {
    return this.activeRuns.size
  }

  // -- WorkerApi -----------------------------------------------------------------------------------------------------

  get isStopped(): boolean {
    return this.control.standing.stop !== null
  }

  reserve(handler: string, isChild = false): WorkerId | null {
    const room = this.free() + (isChild ? this.reservedRuns.room : 0)
    if (!this.isTaking || room <= 0 || !this.claimFilter.takes(handler)) return null
    this.reserved++
    return this.leases.name
  }

  unreserve(): void {
    this.reserved--
  }

  adopt(run: NewRun, base: number, sequence: number | null, isLeft: boolean): void {
    this.reserved--
    if (this.state === 'stopped') return
    const record = rowOfNewRun(run, this.context().tenant, base, sequence)
    if (this.hasSlot && this.reservedRuns.size === 0) void enterFresh(this.keep(record, run), this.errors, isLeft)
    else this.reservedRuns.add(run, record, isLeft)
  }

  isAtWork(run: RunId): boolean {
    const activeRun = this.activeRuns.get(run)
    return activeRun === undefined ? this.reservedRuns.isUnchanged(run) : activeRun.live !== null
  }

  private beginReserved(): void {
    while (this.isTaking && this.hasSlot) {
      const next = this.reservedRuns.next(this.claims.isUnderWay)
      if (next === null) return
      if (next.isChanged) void this.take({ claims: [claimOfReserved(next)] })
      else void enterFresh(this.keep(next.record, next.run), this.errors, false)
    }
  }

  signal(streams: readonly ClaimableId[]): void {
    const now = this.context().clock.now()
    const takesSome = this.isTaking && this.free() > 0
    const takesThem = takesSome && this.claimFilter.current.atOnce === null
    for (const id of streams) {
      const activeRun = isRunId(id) ? this.activeRuns.get(id) : undefined
      if (activeRun !== undefined) this.wakeCoalescer.wakeSoon(activeRun)
      else if (!this.reservedRuns.change(id) && !this.coordinators.wakeSoon(id) && !takesThem)
        this.dispatcher.wake(id, now)
    }
    if (takesSome) this.claims.soon()
  }

  cancel(tenant: TenantId, run: RunId, by: string, reason: string): Promise<void> {
    return cancelRun(this.contextOf(tenant), this.activeRuns.get(run), { run, by, reason })
  }

  private info(name: string, place: WorkerPlace): WorkerInfo {
    const { startedAt, options } = this
    const drains = this.state === 'stopping'
    return { name, ...place, slots: options.slots, startedAt, drains, ...this.control.halt, ...this.claimFilter.told }
  }

  // -- claiming -------------------------------------------------------------------------------------------------------

  free(): number {
    return this.options.slots - this.activeRuns.size - this.reserved
  }

  private get hasSlot(): boolean {
    return this.activeRuns.size < this.options.slots
  }

  /** True if there may be more. */
  private async claimSome(): Promise<boolean> {
    const limit = Math.min(CLAIM_LIMIT, this.free())
    const now = this.context().clock.now()
    const taker = this.claimFilter.taker(this.others.begin() || this.options.sweepMs === undefined)
    const claimed = await this.claimFilter.claim((what) => this.claim({ taker, ...what, now }), now, limit)
    const { claims, nextDueAt, moved = 0 } = claimed
    this.others.taken(moved, now)
    if (claims.length > 0) await this.take(claimed)
    if (nextDueAt !== null && nextDueAt > now) this.wakeAt(nextDueAt)
    return claims.length === limit || moved > 0
  }

  private async claim(request: Omit<ClaimRequest, 'worker'>): Promise<Claims> {
    try {
      return await this.ledger.claim({ ...request, worker: this.leases.name })
    } catch (error) {
      if (!(error instanceof TrihandError) || error.outcome === 'unknown') this.leases.distrust()
      throw error
    }
  }

  private wakeAt(at: number): void {
    // A claim that is answered while the worker stops must not keep the process alive until that instant.
    if (this.state !== 'running' || (this.dueTimer !== null && this.dueTimer.at <= at)) return
    this.dueTimer?.cancel()
    const cancel = this.context().clock.at(at, () => {
      this.dueTimer = null
      this.claims.soon()
    })
    this.dueTimer = { at, cancel }
  }

  /** worker-2: claimed runs are loaded, or loading is retried; while the store is unavailable this worker keeps the leases. */
  private async take(claimed: Taken): Promise<void> {
    const { claims } = claimed
    // Only runs are retried: a coordinator is loaded at its first claim and retries by itself from there.
    const runs = claims.filter(({ stream }) => isRunId(stream))
    this.reserved += claims.length
    try {
      await this.takeUp(claimed)
    } catch {
      const { clock } = this.context()
      // Without the records and events that came with the claim: they are out of date by then.
      clock.at(clock.now() + TRY_AGAIN_MS, () => void (this.state === 'running' && this.take({ claims: runs })))
    } finally {
      this.reserved -= claims.length
    }
  }

  private async takeUp(claimed: Taken): Promise<void> {
    const claims = claimed.claims.filter(({ stream }) => isRunId(stream))
    for (const claim of claimed.claims) if (!isRunId(claim.stream)) this.coordinators.take(claim, this.leases.name)
    if (claims.length === 0) return
    for (const one of await loadClaimed(this.ledger, { ...claimed, claims })) this.begin(one)
  }

  private begin({ runs, unreadable, broken, prefetched }: Claimed): void {
    for (const found of runs) {
      const { record, recoveries } = found
      // A reload may have removed the handler since the claim: the run waits for a worker that has it.
      if (!this.context().system().functions.has(record.handler)) {
        this.leases.letGo(record.id)
        continue
      }
      const known = this.activeRuns.get(record.id)
      if (this.state === 'stopped' || (known !== undefined && known.record.epoch >= record.epoch)) continue
      known?.drop('fenced', { code: 'STEP_ABORTED', message: 'the lease was lost in the meantime' })
      void awaken(this.keep(record, found), recoveries, prefetched, this.errors)
    }
    for (const { stream } of unreadable) if (isClaimable(stream)) this.leases.letGo(stream)
    quarantineBroken(broken, this.contextOf, (run) => this.leases.letGo(run))
  }

  private keep(record: RunRow, standing: RunSnapshot): ActiveRun {
    const activeRun = new ActiveRun(this.contextOf(record.tenant), record, standing, this.runHost)
    this.activeRuns.set(record.id, activeRun)
    return activeRun
  }

  private departed(activeRun: ActiveRun, releaseReason: ReleaseReason): void {
    this.activeRuns.delete(activeRun.record.id)
    if (releaseReason === 'parked')
      this.parked(activeRun.record, wakeAfter(activeRun.state, releaseReason, activeRun, this.context().clock.now()))
    if (releaseReason === 'dropped' && this.state === 'running') this.leases.letGo(activeRun.record.id)
    // A run that has ended leaves nothing due, and its waiters were signalled.
    this.afterRelease(releaseReason === 'fenced' || releaseReason === 'dropped')
  }

  private coordinatorDeparted(id: ClaimableId, releaseReason: CoordinatorRelease, at: number | null): void {
    this.parked({ id, handler: null }, at)
    if (releaseReason === 'dropped' && this.state === 'running') this.leases.letGo(id)
    // Also after parking: signals may have arrived with the release.
    this.afterRelease(true)
  }

  /** The run becomes due here by this worker's own timer, and anywhere by a dispatcher that stores instants. */
  private parked({ id, handler }: { id: ClaimableId; handler: string | null }, at: number | null): void {
    this.claimFilter.remember(id, handler)
    if (at === null) return
    this.wakeAt(at)
    if (this.options.tellsInstants === true) this.dispatcher.wake(id, at)
  }

  private afterRelease(mayBeDueAgain: boolean): void {
    if (this.claims.isWanted || mayBeDueAgain) this.claims.soon()
    this.beginReserved()
    if (this.isIdle()) for (const resolve of this.idle) resolve()
  }

  // -- watching -------------------------------------------------------------------------------------------------------

  private async beat(): Promise<void> {
    dropAfterStandstill(this.leases.stoodStill(), this.activeRuns)
    await this.sayThatItLives()
    await this.lookForOrders()
  }

  private async sayThatItLives(): Promise<void> {
    if ((await this.leases.beat()) > 0) this.claims.soon()
    await this.claimFilter.refresh((name) => this.leases.isOwn(name))
  }

  private drained(): Promise<void> {
    this.coordinators.letGo()
    if (this.isIdle()) return Promise.resolve()
    const { clock } = this.context()
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        this.idle.delete(finish)
        resolve()
      }
      const cancel = clock.at(clock.now() + this.options.drainMs, finish)
      this.idle.add(finish)
    })
  }
}
