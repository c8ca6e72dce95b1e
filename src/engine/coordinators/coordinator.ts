/**
 * A coordinator in memory while this worker holds it: it writes what its logic decides, one append at a time, and parks when it has no work.
 *
 * Owns the coordinator's order of appends, its checkpoints and its lease. Its logic makes the decisions (coordinator-logic.ts).
 *
 * coordinator-1  The facts of a decision and the runs they start are one append, fenced by the coordinator's epoch.
 * coordinator-2  It parks only after its logic has found nothing to do as of the last signal that the release names.
 * coordinator-3  A fenced coordinator stops at once; after a store failure it is released and taken up again later.
 * coordinator-4  It parks only when the cancels that it requested have been delivered (pending-cancels.ts).
 */
import { type ChainHead, headOf, sealFacts } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { CoordinatorId, Instant, WorkerId } from '#model/kernel/ids.ts'
import type { Append, Outcome, StreamRecord, StreamWrite } from '#ports/ledger.ts'
import { CheckpointPace } from './checkpoint-pace.ts'
import type { CoordinatorFact, CoordinatorLogic, Found, Look, Spawned } from './coordinator-logic.ts'
import { restoreCoordinator } from './state.ts'
import { inTurn } from './turns.ts'

export interface CoordinatorHold {
  readonly id: CoordinatorId
  /** The name under which this worker holds it. */
  readonly lease: WorkerId
  readonly epoch: number
  readonly signal: number
  readonly version: number
}

type Conflict = Extract<Outcome, { readonly kind: 'conflict' }>

export type CoordinatorRelease = 'parked' | 'fenced' | 'dropped'

/** How long it stays in memory after its last work, so that steady traffic does not claim and release it for each event. */
const LINGER_MS = 50
const LOOK_AGAIN_MS = 1_000
const NONE: readonly never[] = []

export class Coordinator<State, Fact extends CoordinatorFact> {
  readonly hold: CoordinatorHold
  private readonly context: EngineContext
  private readonly logic: CoordinatorLogic<State, Fact>
  private readonly departed: (releaseReason: CoordinatorRelease, wakeAt: number | null) => void
  private head: ChainHead = { version: 0, headHash: '', lastAt: 0 }
  private seenSignal: number
  private readonly pace = new CheckpointPace()
  private isWakePending = false
  private mustLook = true
  private mustLookAtAll = false
  private hasLeftOut = false
  private lookAgainAt: Instant = 0
  private isLeaving = false
  private isGone = false
  private wait: (() => void) | null = null

  constructor(
    context: EngineContext,
    hold: CoordinatorHold,
    logic: CoordinatorLogic<State, Fact>,
    departed: (releaseReason: CoordinatorRelease, wakeAt: number | null) => void,
  ) {
    this.context = context
    this.hold = hold
    this.logic = logic
    this.departed = departed
    this.seenSignal = hold.signal
  }

  /** Called when there may be new work. */
  wakeSoon(): void {
    this.isWakePending = true
    this.wait?.()
  }

  /** Makes it park as soon as it can. */
  leave(): void {
    this.isLeaving = true
    this.wait?.()
  }

  /** Stops without a write to the ledger. */
  drop(): void {
    this.go('fenced', null)
  }

  /** Works until it has parked, was fenced, or the store has failed. */
  async work(): Promise<void> {
    try {
      let state: State = await this.restore()
      while (!this.isGone) {
        const { state: after, hasWritten } = await inTurn(this.context, this.hold.id, () => this.round(state))
        state = after
        if (hasWritten || (await this.linger(state))) continue
        if (this.hasLeftOut) this.mustLookAtAll = true
        else await this.park(state)
      }
    } catch {
      this.go('dropped', null)
    }
  }

  private async round(before: State): Promise<{ readonly state: State; readonly hasWritten: boolean }> {
    const look = this.nextLook()
    const state = this.isWakePending ? await this.lookUp(before) : before
    const found = await this.logic.find(state, () => this.now(), look)
    if (look !== 'none') this.hasLeftOut = found.leftOut === true
    if (found.facts.length === 0) return { state, hasWritten: false }
    const gate = this.logic.passes?.(found.facts) ?? null
    return { state: await inTurn(this.context, gate, () => this.write(state, found)), hasWritten: true }
  }

  /**
   * Looks if a signal may have come since the last look. Signals of other processes are seen when it parks; a coordinator that timers keep
   * awake also looks from time to time, at all its runs.
   */
  private nextLook(): Look {
    const now = this.context.clock.now()
    const isTime = now >= this.lookAgainAt
    if (!this.isWakePending && !this.mustLook && !this.mustLookAtAll && !isTime) return 'none'
    const look = this.mustLookAtAll || isTime ? 'all' : 'elsewhere'
    this.mustLook = false
    this.mustLookAtAll = false
    if (look === 'all') this.lookAgainAt = now + LOOK_AGAIN_MS
    return look
  }

  /** The current time, but not before the last fact, because the clock of an earlier holder may have been ahead. */
  private now(): Instant {
    return Math.max(this.context.clock.now(), this.head.lastAt)
  }

  private go(releaseReason: CoordinatorRelease, wakeAt: number | null): void {
    if (this.isGone) return
    this.isGone = true
    this.wait?.()
    this.departed(releaseReason, wakeAt)
  }

  // -- reading --------------------------------------------------------------------------------------------------------

  private async restore(): Promise<State> {
    const { id, version } = this.hold
    const restored = await restoreCoordinator(this.context.ledger, id, version, this.logic)
    if (restored === null) throw new TrihandError('NOT_FOUND', `there is no coordinator ${id}`)
    this.head = headOf(restored.record)
    this.pace.read(restored.record.facts)
    this.logic.resumed(restored.state)
    return restored.state
  }

  private async load(after: number): Promise<StreamRecord> {
    const [record] = await this.context.ledger.load([this.hold.id], { after })
    if (record == null) throw new TrihandError('NOT_FOUND', `there is no coordinator ${this.hold.id}`)
    return record
  }

  /** Reads what others wrote (a pause, a command), and the signal up to which the next look sees everything. */
  private async lookUp(state: State): Promise<State> {
    this.isWakePending = false
    const record = await this.load(this.head.version)
    if (record.epoch !== this.hold.epoch) this.go('fenced', null)
    this.seenSignal = Math.max(this.seenSignal, record.signal)
    if (record.version === this.head.version) return state
    const lastAt = Math.max(this.head.lastAt, record.facts.at(-1)?.recordedAt ?? 0)
    this.head = { version: record.version, headHash: record.headHash, lastAt }
    this.pace.read(record.facts)
    const followed = this.logic.follow(state, record.facts)
    this.logic.resumed(followed)
    return followed
  }

  // -- writing --------------------------------------------------------------------------------------------------------

  private async write(before: State, found: Found<State, Fact>): Promise<State> {
    const spawned = await this.logic.spawned(found.facts)
    const checkpoint = await this.pace.due(found.facts.length, () => this.logic.checkpoint(found.state))
    const facts = checkpoint === null ? found.facts : [...found.facts, ...checkpoint.facts]
    const documents = [...(spawned.documents ?? NONE), ...(checkpoint?.documents ?? NONE)]
    const { append, head } = this.compose(facts, { ...spawned, documents })
    const outcome = await commitSpawned(this.context, append, spawned.runs)
    if (outcome.kind === 'conflict') return this.meet(outcome, before, spawned)
    this.head = head
    this.pace.wrote(facts)
    this.isWakePending ||= found.more
    this.logic.written(found.facts)
    this.context.worker.signal(spawned.signals ?? NONE)
    return checkpoint?.state ?? found.state
  }

  private compose(
    facts: readonly Fact[],
    { runs, events, writes = NONE, signals = NONE, documents = NONE }: Spawned,
  ): { readonly append: Omit<Append, 'appendId'>; readonly head: ChainHead } {
    const { facts: sealed, head } = sealFacts(this.context, this.hold.id, this.head, facts)
    // Counts only if the lease was given back before this append was written: then a worker must take the coordinator up.
    const wakeAt = this.context.clock.now()
    const own = { ...this.ownWrite(), wakeAt, facts: sealed, headHash: head.headHash }
    return {
      append: { writes: [own, ...writes, ...runs.map(({ write }) => write)], events, signals, documents },
      head,
    }
  }

  private ownWrite(): StreamWrite {
    return {
      stream: this.hold.id,
      create: null,
      expectedVersion: this.head.version,
      epoch: this.hold.epoch,
      facts: NONE,
      headHash: this.head.headHash,
      status: 'waiting',
      wakeAt: null,
      release: false,
      seenSignal: this.seenSignal,
      opensWaits: NONE,
      closesWaits: NONE,
    }
  }

  /** After a conflict nothing was written: another worker holds the coordinator, or another writer was first. */
  private async meet(outcome: Conflict, state: State, { writes = NONE }: Spawned): Promise<State> {
    // Observations that were not written must be made again.
    this.mustLook = true
    if (outcome.reason === 'version' && outcome.stream === this.hold.id) return this.lookUp(state)
    // Another writer wrote to a second coordinator that this decision also writes to: the decision is made again.
    if (outcome.reason === 'version' && writes.some(({ stream }) => stream === outcome.stream)) return state
    if (outcome.reason === 'version' && this.logic.exists?.(state, outcome.stream) === true) return state
    this.go(outcome.reason === 'epoch' ? 'fenced' : 'dropped', null)
    return state
  }

  // -- parking --------------------------------------------------------------------------------------------------------

  /** Waits for a moment before parking. Returns true if there may be new work. */
  private async linger(state: State): Promise<boolean> {
    const wakeAt = this.logic.wakeAt(state)
    const now = this.context.clock.now()
    if (wakeAt !== null && wakeAt <= now) return true
    if (!this.isWakePending && !this.isLeaving) {
      // A coordinator that is due again within this moment waits for that instead.
      const until = wakeAt !== null && wakeAt < now + LINGER_MS ? wakeAt : now + LINGER_MS
      await new Promise<void>((resolve) => {
        const cancel = this.context.clock.at(until, resolve)
        this.wait = () => {
          cancel()
          resolve()
        }
      })
      this.wait = null
    }
    return this.isWakePending || (wakeAt !== null && wakeAt <= this.context.clock.now())
  }

  /** coordinator-2, coordinator-4: releases the lease. */
  private async park(state: State): Promise<void> {
    await this.logic.told()
    if (this.isGone) return
    const wakeAt = this.logic.wakeAt(state)
    const release = { ...this.ownWrite(), wakeAt, release: true }
    const append = { writes: [release], events: NONE, signals: NONE, documents: NONE }
    const outcome = await commitOnce(this.context.commit, { appendId: this.context.appendId(), ...append })
    if (outcome.kind !== 'conflict') return this.go('parked', wakeAt)
    if (outcome.reason === 'version') this.wakeSoon()
    else this.go('fenced', null)
  }
}
