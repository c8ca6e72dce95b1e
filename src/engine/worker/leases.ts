/**
 * The leases that carry this worker's name: who it is to the ledger, and which leases it has without using them.
 *
 * Owns the name and its beat. Never claims and never works on a run (worker.ts).
 *
 * leases-1  A lease that is not used (a run that was dropped, or cannot be read) is given back, however many tries it takes.
 * leases-2  A claim whose answer was lost may have leased runs that nobody here knows. The worker goes on under a new name, and
 *           the old one is retired, with whatever it still holds, once the last run that was taken under it has left. Nothing is taken under
 *           the new one before the ledger has heard of it: others free the leases of names that have never beaten.
 * leases-3  The worker counts on its leases only while its last answered beat is younger than two thirds of their length, by the wall
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
  /** Whether a run in memory rests on this lease. */
  readonly isUsed: (run: ClaimableId, epoch: number) => boolean
  /** Whether any run in memory was taken under this name. */
  readonly isNeeded: (name: WorkerId) => boolean
  /** What others may know of this worker. */
  readonly info?: () => WorkerInfo
  /** No other process can write this ledger: the lock of its owner proves it. */
  readonly isAlone: boolean
}

/** One moment by both clocks. */
interface Moment {
  readonly wall: number
  readonly monotonic: number
}

const LONG_AGO: Moment = { wall: Number.NEGATIVE_INFINITY, monotonic: Number.NEGATIVE_INFINITY }
const SURE = 2 / 3

/** A run that could not be worked on is left alone for a while. */
const LET_GO_MS = 5_000

export class Leases {
  private readonly deps: Deps
  readonly ttlMs: number
  private readonly former = new Set<WorkerId>()
  /** With how often each was let go: a look that began before the last time does not settle it. */
  private readonly strays = new Map<ClaimableId, number>()
  private current: WorkerId
  private isOutcomeUnknown = false
  private beating: Promise<number> = Promise.resolve(0)
  /** When the last beat that was answered was sent. */
  private heard: Moment = LONG_AGO
  /** When the process last had its turn for a beat. */
  private ticked: Moment | null = null

  constructor(deps: Deps, name: WorkerId, ttlMs: number) {
    this.deps = deps
    this.current = name
    this.ttlMs = ttlMs
  }

  /** Under which runs are claimed and born now. */
  get name(): WorkerId {
    return this.current
  }

  /** Whether it was or is called so. */
  isOwn(name: WorkerId): boolean {
    return name === this.current || this.former.has(name)
  }

  /** leases-3. */
  get isSure(): boolean {
    return this.deps.isAlone || this.since(this.heard) < this.ttlMs * SURE
  }

  /** Asked with every turn for a beat: how long the process stood still, if it was long enough to lose its leases; else 0. */
  stoodStill(): number {
    const before = this.ticked
    this.ticked = this.moment()
    // Nor did it, if it has said meanwhile that it lives.
    const ms = before === null || this.deps.isAlone ? 0 : Math.min(this.since(before), this.since(this.heard))
    return ms >= this.ttlMs * SURE ? ms : 0
  }

  /** Whether the ledger says so, after this worker has said that it lives. */
  async holds(run: ClaimableId, epoch: number): Promise<boolean> {
    await this.beat()
    const [head] = await this.deps.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
    return head?.epoch === epoch && head.lease !== null && this.isOwn(head.lease)
  }

  /** Whether the process that had this name has ended. Another process may live unless the store has one owner. */
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

  /** A claim was sent and its answer was lost. */
  distrust(): void {
    this.isOutcomeUnknown = true
  }

  /** leases-1: the run has left memory while this worker has its lease; it may be taken up again a little later. */
  letGo(run: ClaimableId): void {
    this.strays.set(run, (this.strays.get(run) ?? 0) + 1)
    // What does not succeed now is tried again with the next beat.
    void this.giveBack().catch(() => {})
  }

  /** Says that every name in use lives. Answers how many leases of silent workers were freed. */
  beat(): Promise<number> {
    this.beating = this.beatAll()
    return this.beating
  }

  private async beatAll(): Promise<number> {
    const next = this.isOutcomeUnknown ? workerId(this.deps.context().ids.uuid()) : null
    const sent = this.moment()
    this.ticked ??= sent
    // Names in use first: a beat frees the leases of all who are silent, be it under another name of one's own.
    const names = [...this.former].filter((name) => this.deps.isNeeded(name))
    let freed = 0
    for (const name of next === null ? [...names, this.current] : [...names, this.current, next])
      freed += await this.beatAs(name)
    this.heard = sent
    // A claim under the last name may still be on its way: it is retired with a later beat.
    const unused = [...this.former].filter((name) => !this.deps.isNeeded(name))
    if (next !== null) this.rename(next)
    for (const name of unused) await this.retireAs(name)
    await this.giveBack()
    return freed
  }

  async retire(): Promise<void> {
    // A beat that arrives after it would bring the name back.
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

  /** An append without facts that only gives the lease back. False: somebody wrote meanwhile, look again. */
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
