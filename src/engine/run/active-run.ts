/**
 * A run in memory while a worker works on it: its state, the requests it wants to record, and the callbacks that wait for its steps.
 *
 * Owns the order of one run's appends, parking and fencing. What a handler may ask is step/gate.ts; waking up is enter.ts.
 *
 * active-run-1  One append at a time per run; commands that come meanwhile are decided on the state after it.
 * active-run-2  A promise given to the handler settles only from a step that the ledger has settled.
 * active-run-3  A run parks when its handler waits for nothing but open steps; then nothing of it stays in memory.
 * active-run-5  A run whose append the store refuses for good ends as `quarantined`, with the reason: a retry would be refused again.
 * active-run-4  A fenced run stops at once: no further append, no further answer to its handler.
 */
import type { ChainHead } from '#engine/core/chain.ts'
import type { AppendSource } from '#engine/core/commit.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { Executions } from '#engine/core/executions.ts'
import { retryStore } from '#engine/core/store-retry.ts'
import { pauseAfterConflict } from '#engine/core/turn-queue.ts'
import type { SessionHead } from '#engine/services/session-head.ts'
import { sessionWrites } from '#engine/services/session-writes.ts'
import { cancelReached } from '#engine/step/cancel-child.ts'
import { reportUnrecorded } from '#engine/step/late-result.ts'
import { SeenEvents } from '#engine/wait/seen-events.ts'
import type { Failure, TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { calledBy } from '#model/run/child-retry.ts'
import type { LiveRun, RunFact, RunState } from '#model/run/fact.ts'
import { run as runMachine, statusOf, wakeAt } from '#model/run/run.ts'
import type { SettledStep } from '#model/run/step.ts'
import type { Append, Outcome, StreamRecord } from '#ports/ledger.ts'
import { type AppendContext, type RunAppend, runAppend, wakeAfter } from './append.ts'
import { NO_INPUTS, type RunInputs } from './input.ts'
import { isLeased } from './new-run.ts'
import { type Gathered, gather, MAX_REQUESTS, plainRequest, type Request, type SideWrites } from './run-request.ts'
import type { RunRow, RunSnapshot } from './run-row.ts'
import { beginRun, type Written } from './spawned.ts'
import { Waiters } from './waiters.ts'

export type ReleaseReason = 'ended' | 'parked' | 'fenced' | 'dropped'

/** What a run in memory needs of the worker that holds it. */
export interface RunHost {
  departed(activeRun: ActiveRun, releaseReason: ReleaseReason): void
  /** Looks for events that the run's open waits should receive, and asks the run to record them. */
  look(activeRun: ActiveRun): Promise<void>
}

interface InFlight {
  readonly built: RunAppend
  readonly requests: readonly Request[]
  readonly gathered: Gathered
  readonly departs: 'ended' | 'parked' | null
}

const NO_REPORT: AppendContext['report'] = {}

export class ActiveRun implements AppendSource {
  readonly context: EngineContext
  readonly record: RunRow
  isWaiting = false
  isBusy = false
  behind: AppendSource | null = null
  readonly isNew = false
  state: RunState
  /** Signals up to this one have been looked at: what they announced is recorded or being recorded. */
  seenSignal: number
  /** What the handler works on; known once the run is awake. */
  inputs: RunInputs = NO_INPUTS
  /** How many step bodies and lookups are under way: while there are any, the run does not park. Waking up is the first of them. */
  active = 1
  /** Whether the handler's code is in memory: not yet, running, or finished with its result still to be recorded. */
  entry: 'none' | 'inside' | 'over' = 'none'
  /** The steps that its code has asked for in this entry. Null: no step had settled before this entry. */
  claimed: Set<string> | null = null
  readonly executions = new Executions()
  readonly seen = new SeenEvents()
  session: SessionHead | null = null
  /** What the executor reports besides the result: emitted with the run's end. */
  report: AppendContext['report'] = NO_REPORT
  readonly waiters = new Waiters()
  private readonly runHost: RunHost
  private head: ChainHead
  private queue: Request[] = []
  private inFlight: InFlight | null = null
  private conflicts = 0
  private gone = false
  private isRefused = false
  /** The cancel could not reach a child: the run is woken to send it again. */
  isUntold = false
  /** The instant at which its throttle lets it begin. */
  waitsUntil: Instant | null = null
  lost: AppendContext['lost'] = []
  private alarm: { readonly at: Instant; readonly cancel: () => void } | null = null

  constructor(context: EngineContext, record: RunRow, { state, head }: RunSnapshot, runHost: RunHost) {
    this.context = context
    this.record = record
    this.state = state
    this.head = head
    this.seenSignal = record.signal
    this.runHost = runHost
  }

  get isGone(): boolean {
    return this.gone
  }

  get live(): LiveRun | null {
    return this.state.kind === 'live' ? this.state : null
  }

  /** Whether others have written or signalled what this copy has not seen. */
  isBehind(row: { readonly version: number; readonly signal: number; readonly epoch: number }): boolean {
    if (this.inFlight !== null) return false
    return row.version !== this.head.version || row.signal > this.seenSignal || row.epoch !== this.record.epoch
  }

  ask(request: Request): void {
    if (this.gone) return
    // A JavaScript array that grows reserves room for seventeen; most appends carry one request.
    if (this.queue.length === 0) this.queue = [request]
    else this.queue.push(request)
    this.context.commit.request(this)
  }

  /** Calls back when the ledger has settled this step; at once if it has. */
  whenSettled(step: string, callback: (settled: SettledStep) => void): void {
    const settled = this.live?.settled.get(step)
    if (settled !== undefined) callback(settled)
    else this.waiters.add(step, callback)
  }

  /** Begins work that keeps the run in memory; when the last such work ends, parking is considered. */
  begin(): void {
    this.active++
  }

  end(): void {
    this.active--
    this.considerParking()
  }

  /** Checks, once the handler has had its turn, whether it waits for nothing but open steps (active-run-3). */
  considerParking(): void {
    if (this.active === 0 && !this.gone) this.context.commit.request(this)
  }

  /** store-retry-1: failures of the store are retried, so the answer is the work's own. */
  whileActive<T>(work: () => Promise<T>): Promise<T> {
    this.begin()
    return retryStore(this.context, () => !this.gone, work).finally(() => this.end())
  }

  /** Stops all work of this run in this process. Its promises never settle (step-port-2). */
  drop(releaseReason: ReleaseReason, failure: Failure): void {
    if (this.gone) return
    this.gone = true
    this.leave(failure)
    this.runHost.departed(this, releaseReason)
  }

  next(): Append | null {
    // An append in flight may still wait for its turn at the session.
    if (this.gone || this.inFlight !== null) return null
    const requests = this.queue.splice(0, MAX_REQUESTS)
    if (this.queue.length > 0) this.context.commit.request(this)
    if (this.live?.cancel != null && this.active === 0)
      requests.push(plainRequest({ type: 'confirm_cancel', now: this.context.clock.now() }))
    const gathered = gather(this.state, requests, this.head.lastAt)
    const departs = this.releaseReason(gathered)
    if (gathered.facts.length === 0 && departs === null) {
      this.answer(gathered)
      return null
    }
    try {
      this.inFlight = this.prepare(requests, gathered, departs)
    } catch (error) {
      this.queue = [...requests, ...this.queue]
      throw error
    }
    return this.handOver(this.inFlight)
  }

  settle(outcome: Outcome): void {
    const inFlight = this.inFlight
    this.inFlight = null
    if (inFlight === null) return
    if (outcome.kind !== 'conflict') return this.gone ? this.inherit(inFlight, outcome) : this.adopt(inFlight, outcome)
    this.queue = [...inFlight.requests, ...this.queue]
    if (this.gone) return this.leaveQueue()
    if (outcome.reason === 'epoch')
      return this.drop('fenced', { code: 'STEP_ABORTED', message: 'another worker holds the run' })
    if (outcome.reason === 'taken')
      return this.drop('dropped', { code: 'EVENT_ID_REUSED', message: 'an emitted event has the id of another' })
    this.begin()
    void this.catchUp()
  }

  failed(error: TrihandError): 'keep' | 'drop' {
    // Also for a run that was released: the runs that its append creates would have no holder.
    if (error.outcome === 'unknown' || (error.retryable && !this.gone)) return 'keep'
    this.queue = [...(this.inFlight?.requests ?? []), ...this.queue]
    this.inFlight = null
    const { code, detail: message } = error
    if (this.gone) this.leaveQueue()
    else if (this.isRefused) this.drop('dropped', { code, message })
    else this.giveUp({ code, message })
    return 'drop'
  }

  /** active-run-5. */
  private giveUp(error: Failure): void {
    this.isRefused = true
    this.leaveQueue()
    this.ask(plainRequest({ type: 'quarantine_run', now: this.context.clock.now(), error }))
  }

  private releaseReason({ state, facts }: Gathered): 'ended' | 'parked' | null {
    if (state.kind === 'ended') return 'ended'
    if (state.kind !== 'live' || this.active > 0 || this.queue.length > 0) return null
    // A cancel decided only now still has to reach children and bodies; the next append confirms it or parks.
    if (state.cancel !== null) return this.live?.cancel == null ? null : 'parked'
    if (this.entry !== 'inside') return 'parked'
    return this.waiters.isEmpty || this.waiters.canGoOn(state, facts) ? null : 'parked'
  }

  private prepare(requests: readonly Request[], gathered: Gathered, departs: 'ended' | 'parked' | null): InFlight {
    const built = runAppend(this.context, gathered, {
      record: this.record,
      head: this.head,
      before: this.state,
      isEntered: this.entry !== 'none',
      departs,
      wakeAt: wakeAfter(gathered.state, departs, this, this.context.clock.now()),
      seenSignal: this.seenSignal,
      seen: this.seen,
      report: this.report,
      lost: this.lost,
    })
    return { built, requests, gathered, departs }
  }

  /** Changes to the session's memory are written with those of other runs (session-writes-1). Null: the append was passed on for that. */
  private handOver({ built, gathered }: InFlight): Append | null {
    const changes = gathered.carried.flatMap(({ memory }) => (memory === null ? [] : [memory]))
    if (this.record.session === null || changes.length === 0) return built.append
    sessionWrites(this.context).addRun(this.record.session, this.session, changes, built.append, this)
    return null
  }

  private adopt(inFlight: InFlight, outcome: Written): void {
    const { gathered, departs } = inFlight
    const { sealed, created, asked } = inFlight.built
    const wasCancelled = this.live?.cancel != null
    this.conflicts = 0
    this.state = gathered.state
    this.head = sealed.head
    const { id: run, handler } = this.record
    const status = statusOf(this.state, departs === 'parked')
    this.context.publish.tell({ run, handler, status, version: this.head.version, facts: gathered.facts })
    // A child that is created as its parent ends looks for that end first (parent-end-1).
    for (const child of created) beginRun(this.context, child, outcome, departs === 'ended')
    if (outcome.signalled.length + asked.length > 0) this.context.worker.signal([...outcome.signalled, ...asked])
    if (departs !== null) this.gone = true
    this.answer(gathered)
    if (departs === null) return this.goOn(gathered.facts, wasCancelled)
    this.leave({ code: 'STEP_ABORTED', message: `the run has ${departs}` })
    this.runHost.departed(this, departs)
  }

  /** The run was released while its append was under way: the runs that the append created still belong to this worker. */
  private inherit(inFlight: InFlight, outcome: Written): void {
    for (const run of inFlight.built.created) beginRun(this.context, run, outcome)
    this.leaveBehind(inFlight.gathered.left)
    for (const { done } of inFlight.gathered.answers) done({ kind: 'gone' })
  }

  /** New facts are in the ledger, by this run's own append or by another writer's. */
  private goOn(facts: readonly RunFact[], wasCancelled: boolean): void {
    this.waiters.deliver(facts, this.live)
    if (this.live?.cancel != null && !wasCancelled) this.spreadCancel()
    // pause-1: its code was or will be evicted, so that it is entered anew; the run parks once the work under way has ended.
    if (this.live?.pause != null) this.entry = 'over'
    this.watchTime()
    if (!this.waiters.isEmpty || this.live?.pause != null) this.considerParking()
  }

  /** run-2: step bodies are aborted, children are cancelled, and only then the run may end. */
  spreadCancel(): void {
    const live = this.live
    if (live?.cancel == null) return
    const { by, error } = live.cancel
    this.executions.abort({ code: 'RUN_CANCELLED', message: error.message })
    for (const child of calledBy(live)) {
      this.begin()
      void cancelReached(this.context, child, by, error.message).then((isReached) => {
        if (!isReached) this.isUntold = true
        this.end()
      })
    }
    this.context.commit.request(this)
  }

  /** While the run stays in memory, this process watches its timers. */
  watchTime(): void {
    const live = this.live
    if (live === null || (live.open.size === 0 && live.start.deadlineAt === null)) return
    const at = wakeAt(live)
    if (at === this.alarm?.at) return
    this.alarm?.cancel()
    this.alarm = at === null ? null : { at, cancel: this.context.clock.at(at, () => this.ring()) }
  }

  /** An event that is in the ledger when the time is up comes before the timeout (enter-3). */
  private ring(): void {
    this.alarm = null
    void this.whileActive(async () => {
      await this.runHost.look(this)
      this.ask(plainRequest({ type: 'pass_time', now: this.context.clock.now() }))
    })
  }

  private answer(gathered: Gathered): void {
    this.leaveBehind(gathered.left)
    for (const { done, answer } of gathered.answers) done(answer)
  }

  /** Releases the reservations of runs that were to be created here and are not. */
  private leaveBehind(left: readonly SideWrites[]): void {
    for (const sideWrites of left) for (const _ of sideWrites.runs.filter(isLeased)) this.context.worker.unreserve()
  }

  private leave(failure: Failure): void {
    this.waiters.clear()
    this.alarm?.cancel()
    this.executions.abort(failure)
    this.leaveQueue()
  }

  /** Answers all queued requests with `gone`, so that no caller waits for ever. */
  private leaveQueue(): void {
    const requests = this.queue
    this.queue = []
    reportUnrecorded(this, requests)
    for (const { sideWrites, done } of requests) {
      if (sideWrites !== null) this.leaveBehind([sideWrites])
      done?.({ kind: 'gone' })
    }
  }

  /** Another writer was faster: takes in what it wrote and decides the same requests again. Finished work is kept, however often. */
  private async catchUp(): Promise<void> {
    this.conflicts++
    try {
      await retryStore(
        this.context,
        () => !this.gone,
        () => this.reload(),
      )
      await pauseAfterConflict(this.context, this.conflicts)
    } catch (error) {
      // The run cannot be read: it is released; the lease expires and another attempt begins from the ledger.
      this.drop('dropped', { code: 'LEDGER_CONFLICT', message: String(error) })
      return
    }
    // Not left to end(): other work may be under way that waits for these very requests.
    this.context.commit.request(this)
    this.end()
  }

  /** Takes in facts that others have appended. Returns the signal up to which a look from now on sees everything. */
  async reload(): Promise<number> {
    const from = this.head.version
    const [record] = await this.context.ledger.load([this.record.id], { after: from })
    if (this.gone || record === null || record === undefined) return this.seenSignal
    if (record.epoch !== this.record.epoch) {
      this.drop('fenced', { code: 'STEP_ABORTED', message: 'another worker holds the run' })
      return this.seenSignal
    }
    // An own append may have been under way or answered meanwhile: only what lies after the current head is new.
    if (record.version > this.head.version && this.inFlight === null) this.takeIn(record, this.head.version - from)
    // A look at a state that lacks facts of the record (an own append on its way) does not see what those facts wait for.
    return record.version <= this.head.version ? record.signal : this.seenSignal
  }

  private takeIn(record: StreamRecord, known: number): void {
    const facts = record.facts.slice(known).map(readRunFact)
    // The run ended and was retried between two looks: the code in memory belongs to the life before.
    if (facts.some(({ type }) => type === 'run.retried'))
      return this.drop('dropped', { code: 'STEP_ABORTED', message: 'the run was ended and retried in the meantime' })
    const wasCancelled = this.live?.cancel != null
    this.state = fold(runMachine, facts, this.state)
    const { version, headHash } = record
    this.head = { version, headHash, lastAt: Math.max(this.head.lastAt, record.facts.at(-1)?.recordedAt ?? 0) }
    this.goOn(facts, wasCancelled)
  }
}
