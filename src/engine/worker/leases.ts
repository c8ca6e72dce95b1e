/**
 * The leases under this worker's name: its identity in the ledger, and the leases that it has without using them.
 *
 * Owns the name, the length of a lease and the heartbeat. Never claims and never works on a run (worker.ts).
 *
 * leases-1  A lease that is not used (a run that was dropped, or cannot be read) is given back, however many tries it takes.
 * leases-2  A claim whose answer was lost may have leased runs that this process does not know. The worker continues under a new name;
 *           the old name is retired, with all its leases, once the last run that was taken under it has left. Nothing is taken under the
 *           new name before its first heartbeat is in the ledger: others free the leases of names without a heartbeat.
 * leases-3  The worker relies on its leases only while its last answered heartbeat is younger than two thirds of their length, by the wall
 *           clock and by the monotonic one: a process that stood still, or a machine that slept, asks the ledger first.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { type ClaimableId, type WorkerId, workerId } from '#model/kernel/ids.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { Ledger, StreamRecord } from '#ports/ledger.ts'

interface Deps {
  readonly context: () => EngineContext
  readonly ledger: Pick<Ledger, 'load' | 'beat' | 'retire'>
  /** True if a run in memory needs this lease. */
  readonly isUsed: (run: ClaimableId, epoch: number) => boolean
  /** True if any run in memory was taken under this name. */
  readonly isNeeded: (name: WorkerId) => boolean
  /** The public description of this worker. */
  readonly info?: () => WorkerInfo
  /** True if no other process can write this ledger: its lock guarantees it. */
  readonly isAlone: boolean
}

/** One instant by both clocks. */
interface Moment {
  readonly wall: number
  readonly monotonic: number
}

const LONG_AGO: Moment = { wall: Number.NEGATIVE_INFINITY, monotonic: Number.NEGATIVE_INFINITY }
const SURE = 2 / 3

/** How long a silent process keeps its leases, unless the configuration says otherwise. */
export const DEFAULT_LEASE = '15s'

/** How often a worker renews its leases: two heartbeats may be lost before a lease ends. */
export const heartbeatMs = (leaseTtlMs: number): number => leaseTtlMs / 3

/** How long a run that was given back is left alone before it is due again. */
const LET_GO_MS = 5_000

export class Leases {
  private readonly deps: Deps
  readonly ttlMs: number
  private readonly former = new Set<WorkerId>()
  /** Leases to give back, with how often each run was let go: a look that began before the last time does not settle it. */
  private readonly strays = new Map<ClaimableId, number>()
  private current: WorkerId
  private isOutcomeUnknown = false
  private beating: Promise<number> = Promise.resolve(0)
  /** When the last answered heartbeat was sent. */
  private heard: Moment = LONG_AGO
  /** When the process last reached its scheduled heartbeat. */
  private ticked: Moment | null = null

  constructor(deps: Deps, name: WorkerId, ttlMs: number) {
    this.deps = deps
    this.current = name
    this.ttlMs = ttlMs
  }

  /** The name under which runs are claimed and created now. */
  get name(): WorkerId {
    return this.current
  }

  /** True if this is the current name of the worker or one of its former names. */
  isOwn(name: WorkerId): boolean {
    return name === this.current || this.former.has(name)
  }

  /** leases-3: true if the worker may rely on its leases. */
  get isSure(): boolean {
    return this.deps.isAlone || this.since(this.heard) < this.ttlMs * SURE
  }

  /** Called before every heartbeat. Returns how long the process stood still, if it was long enough to lose its leases; otherwise 0. */
  stoodStill(): number {
    const before = this.ticked
    this.ticked = this.moment()
    // A heartbeat that was answered in the meantime also shows that it did not stand still.
    const ms = before === null || this.deps.isAlone ? 0 : Math.min(this.since(before), this.since(this.heard))
    return ms >= this.ttlMs * SURE ? ms : 0
  }

  /** Sends a heartbeat and then asks the ledger if this worker holds the lease of the run. */
  async holds(run: ClaimableId, epoch: number): Promise<boolean> {
    await this.beat()
    const [head] = await this.deps.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
    return head?.epoch === epoch && head.lease !== null && this.isOwn(head.lease)
  }

  /** True if the process that had this name is known to have ended: only a store with a single owner can prove it. */
  isGone(name: WorkerId | null): boolean {
    return this.deps.isAlone && (name === null || !this.isOwn(name))
  }

  private moment(): Moment {
    const { clock } = this.deps.context()
    const wall = clock.now()
    return { wall, monotonic: clock.monotonic?.() ?? wall }
  }

  private since({ wall, monotonic }: Moment): number {
    const now = this.moment()
    return Math.max(now.wall - wall, now.monotonic - monotonic)
  }

  /** Called when the answer of a claim was lost (leases-2). */
  distrust(): void {
    this.isOutcomeUnknown = true
  }

  /** leases-1: the run has left memory while this worker has its lease; it may be taken up again a little later. */
  letGo(run: ClaimableId): void {
    this.strays.set(run, (this.strays.get(run) ?? 0) + 1)
    // If it fails now, it is retried with the next heartbeat.
    void this.giveBack().catch(() => {})
  }

  /** Sends a heartbeat for every name in use. Returns how many leases of silent workers were freed. */
  beat(): Promise<number> {
    this.beating = this.beatAll()
    return this.beating
  }

  private async beatAll(): Promise<number> {
    const next = this.isOutcomeUnknown ? workerId(this.deps.context().ids.uuid()) : null
    const sent = this.moment()
    this.ticked ??= sent
    // Former names that are still in use go first: a heartbeat frees the leases of all silent names, also of this worker's own.
    const names = [...this.former].filter((name) => this.deps.isNeeded(name))
    let freed = 0
    for (const name of next === null ? [...names, this.current] : [...names, this.current, next])
      freed += await this.beatAs(name)
    this.heard = sent
    // A claim under the last name may still be on its way: that name is retired with a later heartbeat.
    const unused = [...this.former].filter((name) => !this.deps.isNeeded(name))
    if (next !== null) this.rename(next)
    for (const name of unused) await this.retireAs(name)
    await this.giveBack()
    return freed
  }

  async retire(): Promise<void> {
    // A heartbeat that arrives after the retirement would bring the name back.
    await this.beating.catch(() => {})
    for (const name of [...this.former, this.current]) await this.retireAs(name)
  }

  /** leases-2. */
  private rename(next: WorkerId): void {
    this.isOutcomeUnknown = false
    this.former.add(this.current)
    this.current = next
  }

  private beatAs(worker: WorkerId): Promise<number> {
    const { context, info } = this.deps
    const told = info === undefined ? {} : { info: info() }
    return this.deps.ledger.beat({ worker, now: context().clock.now(), ttlMs: this.ttlMs, ...told })
  }

  private async retireAs(name: WorkerId): Promise<void> {
    await this.deps.ledger.retire(name, this.deps.context().clock.now())
    this.former.delete(name)
  }

  private async giveBack(): Promise<void> {
    const strays = [...this.strays]
    if (strays.length === 0) return
    const runs = strays.map(([run]) => run)
    const records = await this.deps.ledger.load(runs, { after: Number.MAX_SAFE_INTEGER })
    await Promise.all(strays.map(([run, times], i) => this.giveBackOne(run, times, records[i] ?? null)))
  }

  private async giveBackOne(run: ClaimableId, times: number, record: StreamRecord | null): Promise<void> {
    const isOurs = record?.lease != null && this.isOwn(record.lease)
    const isStray = record !== null && isOurs && !this.deps.isUsed(run, record.epoch)
    const isSettled = !isStray || (await this.release(record))
    if (isSettled && this.strays.get(run) === times) this.strays.delete(run)
  }

  /** Appends no facts, only gives the lease back. Returns false if the stream was written to in the meantime: load it again. */
  private async release(record: StreamRecord): Promise<boolean> {
    const { commit, clock, appendId } = this.deps.context()
    const write = {
      stream: record.stream,
      create: null,
      expectedVersion: record.version,
      epoch: record.epoch,
      facts: [],
      headHash: record.headHash,
      status: record.status,
      wakeAt: clock.now() + LET_GO_MS,
      release: true,
      seenSignal: record.signal,
      opensWaits: [],
      closesWaits: [],
    } as const
    const append = { appendId: appendId(), writes: [write], events: [], signals: [], documents: [] }
    const outcome = await commitOnce(commit, append)
    return outcome.kind !== 'conflict' || outcome.reason !== 'version'
  }
}
