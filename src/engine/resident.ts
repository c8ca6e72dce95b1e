/**
 * A run in memory while somebody works on it: its state, what it wants to record, and who waits for which step.
 *
 * Owns the order of one run's appends, parking and fencing. What a handler may ask is gate.ts; waking up is awaken.ts.
 *
 * resident-1  One append at a time per run; commands that come meanwhile are decided on the state after it.
 * resident-2  A promise given to the handler settles only from a step that the ledger has settled.
 * resident-3  A run parks when its handler waits for nothing but open steps; then nothing of it stays in memory.
 * resident-4  A fenced run stops at once: no further append, no further answer to its handler.
 */
import type { Failure, TrihandError } from '../model/errors.ts'
import type { Cause, StoredEvent } from '../model/event.ts'
import { readRunFact } from '../model/fact-codec.ts'
import type { Instant, RunId, SessionId, TenantId } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import { fold } from '../model/machine.ts'
import { run as runMachine, statusOf, wakeAt } from '../model/run.ts'
import type { LiveRun, RunFact, RunState } from '../model/run-fact.ts'
import type { SettledStep } from '../model/step.ts'
import { causedBy } from '../model/trigger.ts'
import type { Append, Outcome, StreamWrite } from '../ports/ledger.ts'
import type { ChainHead } from './chain.ts'
import type { AppendSource } from './commit.ts'
import type { House } from './house.ts'
import type { NewRun } from './new-run.ts'
import type { Performance } from './perform.ts'
import { type Gathered, gather, type Luggage, type Request } from './request.ts'
import { type RunAppend, runAppend } from './run-append.ts'
import type { SessionHead } from './session-head.ts'

export interface ResidentRecord {
  readonly id: RunId
  readonly tenant: TenantId
  readonly handler: string
  readonly session: SessionId | null
  readonly parent: RunId | null
  readonly event: StoredEvent | null
  readonly base: number
  readonly epoch: number
  readonly signal: number
  readonly state: RunState
  readonly head: ChainHead
}

export type Departure = 'ended' | 'parked' | 'fenced' | 'dropped'

interface InFlight extends RunAppend {
  readonly requests: readonly Request[]
  readonly gathered: Gathered
  readonly departs: 'ended' | 'parked' | null
}

const MAX_CONFLICTS = 20

export class Resident implements AppendSource {
  readonly house: House
  readonly record: ResidentRecord
  state: RunState
  seenSignal: number
  /** What the handler works on; known once the run is awake. */
  input: Json = null
  /** Bodies being performed and lookups under way: while any is, the run does not park. */
  active = 0
  /** Whether the handler's code is in memory: not yet, at work, or done with its last word on the way. */
  entry: 'none' | 'inside' | 'over' = 'none'
  readonly performances = new Set<Performance>()
  readonly knownEvents = new Map<number, StoredEvent>()
  /** How many events of a type after a base this resident has looked at: the ledger compares it when the wait is opened. */
  readonly seenCounts = new Map<string, number>()
  session: SessionHead | null = null
  private readonly waiters = new Map<string, ((settled: SettledStep) => void)[]>()
  private readonly onDeparture: (resident: Resident, departure: Departure) => void
  private head: ChainHead
  private queue: Request[] = []
  private inFlight: InFlight | null = null
  private conflicts = 0
  private gone = false
  private alarm: { readonly at: Instant; readonly cancel: () => void } | null = null

  constructor(house: House, record: ResidentRecord, onDeparture: (resident: Resident, departure: Departure) => void) {
    this.house = house
    this.record = record
    this.state = record.state
    this.head = record.head
    this.seenSignal = record.signal
    this.onDeparture = onDeparture
  }

  get isGone(): boolean {
    return this.gone
  }

  get live(): LiveRun | null {
    return this.state.kind === 'live' ? this.state : null
  }

  /** Where the run stands in the chain of causes. */
  get ownCause(): Cause {
    const start =
      this.state.kind === 'live' ? this.state.start : this.state.kind === 'ended' ? this.state.last.start : null
    const cause = start?.cause ?? this.record.event
    return cause ?? { correlationId: this.record.id, causationId: null, traceparent: null, hops: 0, chain: [] }
  }

  /** The cause of what this run sets off. */
  get cause(): Cause {
    return causedBy(this.ownCause, this.record.id, this.record.handler)
  }

  /** Whether others have written or signalled what this copy has not seen. */
  isBehind(row: { readonly version: number; readonly signal: number; readonly epoch: number }): boolean {
    if (this.inFlight !== null) return false
    return row.version !== this.head.version || row.signal > this.seenSignal || row.epoch !== this.record.epoch
  }

  ask(request: Request): void {
    if (this.gone) return
    this.queue.push(request)
    this.house.commit.request(this)
  }

  /** Calls back when the ledger has settled this step; at once if it has. */
  whenSettled(step: string, callback: (settled: SettledStep) => void): void {
    const settled = this.live?.settled.get(step)
    if (settled !== undefined) return callback(settled)
    const waiting = this.waiters.get(step)
    if (waiting === undefined) this.waiters.set(step, [callback])
    else waiting.push(callback)
  }

  isAwaited(step: string): boolean {
    return this.waiters.has(step)
  }

  /** Work that keeps the run in memory; when the last ends, parking is considered. */
  begin(): void {
    this.active++
  }

  end(): void {
    this.active--
    if (this.active === 0 && !this.gone) this.house.commit.request(this)
  }

  /** Stops all work of this run in this process. Its promises never settle (gate-2). */
  drop(departure: Departure, failure: Failure): void {
    if (this.gone) return
    this.gone = true
    this.queue = []
    this.leave(failure)
    this.onDeparture(this, departure)
  }

  abortPerformances(failure: Failure): void {
    for (const performance of [...this.performances]) performance.abort(failure)
  }

  // -- AppendSource ---------------------------------------------------------------------------------------------------

  next(): Append | null {
    if (this.gone) return null
    const requests = this.queue
    this.queue = []
    if (this.live?.cancel != null && this.active === 0)
      requests.push({ command: { type: 'confirm_cancel', now: this.house.clock.now() }, luggage: null, done: null })
    const gathered = gather(this.state, requests, this.head.lastAt)
    const departs = this.departure(gathered.state)
    if (gathered.facts.length === 0 && departs === null) {
      this.answer(gathered)
      return null
    }
    this.inFlight = this.prepare(requests, gathered, departs)
    return this.inFlight.append
  }

  settle(outcome: Outcome): void {
    const inFlight = this.inFlight
    this.inFlight = null
    if (inFlight === null || this.gone) return
    if (outcome.kind !== 'conflict') return this.adopt(inFlight, outcome)
    this.queue = [...inFlight.requests, ...this.queue]
    if (outcome.reason === 'epoch') return this.fenced(inFlight)
    if (outcome.reason === 'taken')
      return this.drop('dropped', { code: 'EVENT_ID_REUSED', message: 'an emitted event has the id of another' })
    this.begin()
    void this.catchUp(outcome.stream === this.record.id ? 'run' : 'session')
  }

  failed(error: TrihandError): 'keep' | 'drop' {
    if (this.gone) return 'drop'
    if (error.retryable || error.outcome === 'unknown') return 'keep'
    this.drop('dropped', { code: error.code, message: error.detail })
    return 'drop'
  }

  // -- building an append ---------------------------------------------------------------------------------------------

  private departure(state: RunState): 'ended' | 'parked' | null {
    if (state.kind === 'ended') return 'ended'
    if (state.kind !== 'live' || this.active > 0) return null
    // A cancel decided only now still has to reach children and bodies; the next append confirms it or parks.
    if (state.cancel !== null) return this.live?.cancel == null ? null : 'parked'
    if (this.entry === 'none') return 'parked'
    if (this.entry === 'over') return state.retryAt === null ? null : 'parked'
    if (this.waiters.size === 0) return null
    for (const step of this.waiters.keys()) if (state.settled.has(step)) return null
    return 'parked'
  }

  private prepare(requests: readonly Request[], gathered: Gathered, departs: 'ended' | 'parked' | null): InFlight {
    const parts = runAppend(this.house, gathered, {
      record: this.record,
      head: this.head,
      before: this.state,
      departs,
      seenSignal: this.seenSignal,
      seenCount: (type, base) => this.seenCounts.get(`${type}\n${base}`) ?? 0,
      memory: this.memoryWrites(gathered.carried),
    })
    return { requests, gathered, departs, ...parts }
  }

  private memoryWrites(carried: readonly Luggage[]): readonly StreamWrite[] {
    if (this.session === null) return []
    const changes = carried.flatMap((luggage) => (luggage.memory === null ? [] : [luggage.memory]))
    return changes.length === 0 ? [] : [this.session.write(changes, this.house.clock.now())]
  }

  // -- after the ledger's answer --------------------------------------------------------------------------------------

  private adopt(inFlight: InFlight, outcome: Extract<Outcome, { readonly kind: 'written' | 'already_written' }>): void {
    const { gathered, sealed, departs, created } = inFlight
    const wasCancelled = this.live?.cancel != null
    this.conflicts = 0
    this.state = gathered.state
    this.head = sealed.head
    this.session?.confirm()
    const { id, handler } = this.record
    this.house.publish.tell({
      run: id,
      handler,
      status: statusOf(this.state, departs === 'parked'),
      version: this.head.version,
      facts: gathered.facts,
    })
    for (const run of created) this.start(run, outcome)
    if (outcome.signalled.length > 0) this.house.worker.signal(outcome.signalled)
    if (departs !== null) this.gone = true
    this.answer(gathered)
    this.deliver(gathered.facts)
    if (departs !== null) return this.depart(departs)
    if (this.live?.cancel != null && !wasCancelled) this.spreadCancel()
    this.setAlarm()
  }

  /** run-2: bodies are told to stop, children are cancelled, and only then the run may end. */
  spreadCancel(): void {
    const live = this.live
    if (live?.cancel == null) return
    const { by, error } = live.cancel
    this.abortPerformances({ code: 'RUN_CANCELLED', message: error.message })
    for (const [, open] of live.open.entries()) {
      if (open.kind !== 'calling') continue
      this.begin()
      // A child that has ended or cannot be reached now is met again when the parent is woken.
      void this.house.worker
        .cancel(open.child, by, error.message)
        .catch(() => {})
        .finally(() => this.end())
    }
    this.house.commit.request(this)
  }

  /** While the run stays in memory its timers are this process's to watch. */
  private setAlarm(): void {
    const live = this.live
    if (live === null || (live.open.size === 0 && live.start.deadlineAt === null)) return
    const at = wakeAt(live)
    if (at === this.alarm?.at) return
    this.alarm?.cancel()
    this.alarm = at === null ? null : { at, cancel: this.house.clock.at(at, () => this.ring()) }
  }

  private ring(): void {
    this.alarm = null
    this.ask({ command: { type: 'pass_time', now: this.house.clock.now() }, luggage: null, done: null })
  }

  private start(run: NewRun, outcome: Extract<Outcome, { readonly kind: 'written' | 'already_written' }>): void {
    const index = run.write.create?.event ?? null
    const sequence = index === null ? null : (outcome.sequences[index] ?? null)
    if (run.write.create?.lease != null) this.house.worker.adopt(run, sequence ?? outcome.position, sequence)
    else this.house.worker.signal([run.id])
  }

  private answer(gathered: Gathered): void {
    for (const luggage of gathered.left)
      for (const run of luggage.runs) if (run.write.create?.lease != null) this.house.worker.unreserve()
    for (const { request, answer } of gathered.answers) request.done?.(answer)
  }

  /** resident-2. */
  private deliver(facts: readonly RunFact[]): void {
    if (this.waiters.size === 0) return
    for (const fact of facts) {
      if (!('step' in fact)) continue
      const waiting = this.waiters.get(fact.step)
      const settled = waiting === undefined ? undefined : this.live?.settled.get(fact.step)
      if (waiting === undefined || settled === undefined) continue
      this.waiters.delete(fact.step)
      for (const callback of waiting) callback(settled)
    }
  }

  private depart(departure: 'ended' | 'parked'): void {
    this.leave({ code: 'STEP_ABORTED', message: `the run has ${departure}` })
    this.onDeparture(this, departure)
  }

  private leave(failure: Failure): void {
    this.waiters.clear()
    this.alarm?.cancel()
    this.abortPerformances(failure)
  }

  private fenced(inFlight: InFlight): void {
    for (const run of inFlight.created) if (run.write.create?.lease != null) this.house.worker.unreserve()
    this.drop('fenced', { code: 'STEP_ABORTED', message: 'another worker holds the run' })
  }

  /** Somebody wrote from outside: take in what was written and decide the same requests again. */
  private async catchUp(what: 'run' | 'session'): Promise<void> {
    this.conflicts++
    try {
      if (this.conflicts > MAX_CONFLICTS) throw new Error(`${MAX_CONFLICTS} conflicts in a row`)
      if (what === 'session') await this.session?.reload()
      else await this.reload()
    } catch (error) {
      // The store is away or the run cannot be read: let go; the lease runs out and another attempt begins from the ledger.
      this.drop('dropped', { code: 'LEDGER_CONFLICT', message: String(error) })
      return
    }
    this.end()
  }

  /** Takes in facts that others have appended. */
  async reload(): Promise<void> {
    const from = this.head.version
    const [record] = await this.house.ledger.load([this.record.id], { after: from })
    if (this.gone || record === null || record === undefined) return
    if (record.epoch !== this.record.epoch)
      return this.drop('fenced', { code: 'STEP_ABORTED', message: 'another worker holds the run' })
    this.seenSignal = Math.max(this.seenSignal, record.signal)
    // An own append may have been under way or answered meanwhile: only what lies after the head now is news.
    if (record.version <= this.head.version || this.inFlight !== null) return
    const news = record.facts.slice(this.head.version - from).map(readRunFact)
    const wasCancelled = this.live?.cancel != null
    this.state = fold(runMachine, news, this.state)
    this.head = {
      version: record.version,
      headHash: record.headHash,
      lastAt: Math.max(this.head.lastAt, record.facts.at(-1)?.recordedAt ?? 0),
    }
    this.deliver(news)
    if (this.live?.cancel != null && !wasCancelled) this.spreadCancel()
    this.setAlarm()
  }
}
