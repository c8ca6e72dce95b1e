/**
 * The engine's side of `step.run` and the other step calls for one entry of a handler.
 *
 * Owns which call begins a step, waits and events. Attempts are in attempts.ts, children in child.ts, tasks for people in ask.ts.
 * Never answers before the ledger has the answer (step-port-1).
 */
import { causeFrom } from '#engine/core/cause.ts'
import { emittedBy } from '#engine/core/events.ts'
import { hasListener } from '#engine/core/lifecycle.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { NO_SIDE_WRITES, type SideWrites } from '#engine/run/run-request.ts'
import { openWait } from '#engine/wait/open-wait.ts'
import type { LifecycleReport } from '#model/event/lifecycle.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { NOTHING } from '#model/kernel/payload.ts'
import type { SettledStep } from '#model/run/step.ts'
import type {
  AskReply,
  AskRequest,
  EmittedEvent,
  InvokeOptions,
  StepPort,
  StepRequest,
  TaskOutcome,
  TaskRequest,
  WaitAnswer,
  WaitRequest,
} from '#ports/step-port.ts'
import { askPeople } from './ask.ts'
import { completeStep, failAtOnce } from './attempt-commands.ts'
import { Attempts } from './attempts.ts'
import { startChild } from './child.ts'
import { makeWay } from './defer-step.ts'
import { asFailure, isOpen } from './once.ts'
import { definitionOf } from './permissions.ts'

/** Creates the error that the handler receives when a step has failed for good. The workflow executor provides it and owns its class. */
export type StepErrors = (step: string, failure: Failure) => Error

const never = <T>(): Promise<T> => new Promise<T>(() => {})

export class StepDriver implements StepPort {
  private readonly activeRun: ActiveRun
  private readonly errors: StepErrors
  private readonly attempts: Attempts

  constructor(activeRun: ActiveRun, errors: StepErrors) {
    this.activeRun = activeRun
    this.errors = errors
    this.attempts = new Attempts(activeRun)
  }

  stateOf(step: string): 'none' | 'open' | 'settled' {
    const live = this.activeRun.live
    if (live?.settled.has(step) === true) return 'settled'
    return live?.open.has(step) === true ? 'open' : 'none'
  }

  valueOf(step: string): { readonly value: Json } | null {
    const settled = this.activeRun.live?.settled.get(step)
    if (settled === undefined || !('result' in settled) || !('value' in settled.result) || !this.isOpen()) return null
    this.activeRun.claimed?.add(step)
    return settled.result
  }

  run(request: StepRequest): Promise<Json> {
    return this.attempted(request)
  }

  async perform(request: TaskRequest): Promise<TaskOutcome> {
    return (await this.attempted(request)) as unknown as TaskOutcome
  }

  private attempted(request: StepRequest | TaskRequest): Promise<Json> {
    if (!this.isOpen()) return never()
    const begins = this.begins(request.step)
    const value = this.value(request.step)
    this.activeRun.waiters.addRetry(request, this)
    if (begins) this.attempts.begin(request)
    return value
  }

  /** Called when the delay after a failed attempt is over, or a person has decided to run the step again. */
  beginAgain(request: StepRequest | TaskRequest): void {
    if (this.isOpen()) this.attempts.begin(request)
  }

  async sleepUntil(step: string, instant: (now: number) => number): Promise<void> {
    if (!this.isOpen()) return never()
    const now = this.activeRun.context.clock.now()
    if (this.begins(step))
      this.activeRun.ask({
        command: { type: 'set_timer', now, step, wakeAt: instant(now) },
        sideWrites: null,
        done: null,
      })
    await this.value(step)
  }

  waitForEvent(step: string, request: WaitRequest): Promise<WaitAnswer> {
    if (!this.isOpen()) return never()
    const begins = this.begins(step)
    const answer = new Promise<WaitAnswer>((resolve, reject) => {
      this.activeRun.whenSettled(step, (settled) =>
        this.activeRun.whileActive(() => this.waitAnswer(step, settled)).then(resolve, reject),
      )
    })
    if (begins) this.guard(step, () => this.openWait(step, request))
    return answer
  }

  invoke(step: string, handler: string, input: Json, options: InvokeOptions = {}): Promise<Json> {
    if (!this.isOpen()) return never()
    const begins = this.begins(step)
    const value = this.value(step)
    if (begins) this.guard(step, () => startChild(this.activeRun, step, { ...options, handler, input }))
    return value
  }

  async ask(step: string, request: AskRequest): Promise<AskReply> {
    if (!this.isOpen()) return never()
    const begins = this.begins(step)
    const value = this.value(step)
    if (begins) this.guard(step, () => askPeople(this.activeRun, step, request))
    return (await value) as unknown as AskReply
  }

  async emit(step: string, events: readonly EmittedEvent[]): Promise<readonly string[]> {
    if (!this.isOpen()) return never()
    const begins = this.begins(step)
    const value = this.value(step)
    if (begins) this.guard(step, () => this.sendEvents(step, events))
    return (await value) as unknown as readonly string[]
  }

  async report(step: string, lifecycle: LifecycleReport): Promise<void> {
    const { activeRun } = this
    if (!this.isOpen()) return never()
    if (!hasListener(activeRun.context, activeRun.record.handler, lifecycle.type)) return
    const begins = this.begins(step)
    const value = this.value(step)
    if (begins) {
      const sideWrites = { ...NO_SIDE_WRITES, reports: [lifecycle] }
      completeStep(activeRun, { step, attempt: 1, result: NOTHING, sideWrites })
    }
    await value
  }

  // -- what every call begins with ------------------------------------------------------------------------------------

  private isOpen(): boolean {
    const { context, isGone } = this.activeRun
    if (context.worker.isStopped && !isGone) makeWay(this.activeRun)
    return isOpen(this.activeRun)
  }

  /** A call that begins no step may be the last thing that the handler does before it only waits, so parking is considered. */
  private begins(step: string): boolean {
    this.activeRun.claimed?.add(step)
    const begins = this.mayBegin(step)
    if (!begins) this.activeRun.considerParking()
    return begins
  }

  /** True if this call begins the step: it is not settled, not begun by another call and not waiting for a retry. */
  private mayBegin(step: string): boolean {
    const live = this.activeRun.live
    if (live === null || live.settled.has(step) || this.activeRun.waiters.isAwaited(step)) return false
    const open = live.open.get(step)
    return open === undefined || (open.kind === 'retrying' && open.wakeAt === null)
  }

  private value(step: string): Promise<Json> {
    return new Promise<Json>((resolve, reject) => {
      this.activeRun.whenSettled(step, (settled) => {
        if (settled.kind === 'failed') return reject(this.errors(step, settled.error))
        if (settled.kind === 'received') return resolve(null)
        if ('value' in settled.result) return resolve(settled.result.value)
        this.activeRun.whileActive(() => fetchValue(this.activeRun.context, settled.result)).then(resolve, reject)
      })
    })
  }

  /** Runs work that precedes a step's first fact; if the work fails, the step fails. */
  private guard(step: string, work: () => Promise<void>): void {
    void this.activeRun
      .whileActive(work)
      .catch((error: unknown) => failAtOnce(this.activeRun, step, 1, asFailure(error)))
  }

  // -- waits, children, events ----------------------------------------------------------------------------------------

  private openWait(step: string, request: WaitRequest): Promise<void> {
    return openWait(this.activeRun, step, request)
  }

  private async waitAnswer(step: string, settled: SettledStep): Promise<WaitAnswer> {
    if (settled.kind === 'failed') throw this.errors(step, settled.error)
    if (settled.kind !== 'received') return { status: 'timed_out', events: [], missing: [] }
    const { context, record, seen } = this.activeRun
    const unknown = settled.events.flatMap(({ sequence }) => (seen.get(sequence) === undefined ? sequence : []))
    if (unknown.length > 0) {
      const loaded = await context.ledger.events({ tenant: record.tenant, sequences: unknown, limit: unknown.length })
      for (const event of loaded) seen.keep(event)
    }
    const events = settled.events.flatMap(({ sequence }) => seen.get(sequence) ?? [])
    return { status: settled.timedOut ? 'timed_out' : 'received', events, missing: settled.missing }
  }

  private async sendEvents(step: string, intents: readonly EmittedEvent[]): Promise<void> {
    const { activeRun } = this
    const { context, record } = activeRun
    const definition = definitionOf(context, record.handler)
    const sender = { ...record, run: record.id, cause: causeFrom(record, activeRun.state), definition }
    const outgoing = await emittedBy(context, sender, intents)
    const sideWrites: SideWrites = { ...NO_SIDE_WRITES, ...outgoing }
    const ids = outgoing.events.map(({ event }) => event.id)
    completeStep(activeRun, { step, attempt: 1, result: { value: ids }, sideWrites })
  }
}
