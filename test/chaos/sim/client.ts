/**
 * The outside caller of the system: sends events, starts runs, cancels, retries, answers what happened. Like a careful client it
 * repeats the same event under the same id when it does not know the outcome.
 *
 * Owns what was acknowledged, denied and left unanswered. Never reads the store.
 */
import type { Engine } from '#engine/core/engine.ts'
import type { Receipt } from '#engine/core/incoming.ts'
import type { Decision } from '#engine/tasks/tasks.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId, SessionId, TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Verdict } from '#model/run/fact.ts'
import type { Identity } from '#model/task/spec.ts'
import { actionOf } from '#model/task/uncertain-task.ts'
import { answerStep } from '#test/support/step-answer.ts'
import type { Scheduler } from './scheduler.ts'
import type { SimWorker } from './sim-worker.ts'
import type { World } from './world.ts'

export interface Sending {
  readonly id: string
  readonly type: string
  readonly data: Json
}

export type Acknowledged =
  | { readonly kind: 'event'; readonly sending: Sending; readonly receipt: Receipt }
  | { readonly kind: 'run'; readonly run: RunId }
  | { readonly kind: 'session'; readonly session: SessionId }
  | { readonly kind: 'cancel'; readonly run: RunId }
  /** A pause, a resume or a request for a run, of a gate or a schedule. */
  | { readonly kind: 'coordinator'; readonly coordinator: string; readonly fact: string; readonly id: string }
  | { readonly kind: 'retry'; readonly run: RunId }
  | { readonly kind: 'decision'; readonly task: TaskId; readonly action: string }

interface Call {
  readonly name: string
  readonly worker: SimWorker
}

/** `unknown`: it cannot be known whether it was done, because the store or the worker did not answer. */
export type Told<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'not_done' | 'unknown'; readonly isRefused?: boolean }

/** Refusals that others can cause by being faster. */
const OVERTAKEN: ReadonlySet<string> = new Set([
  'RUN_ENDED',
  'RUN_NOT_FAILED',
  'RUN_CANCELLED',
  'NOT_FOUND',
  'RUN_EXISTS',
  'SCHEDULE_ENDED',
  'TASK_CLOSED',
  'TASK_FORBIDDEN',
  'STALE_VIEW',
  'STEP_AT_WORK',
])
/** A declared limit of retries: while a handler is paused, its caller does not want it to begin. */
const PAUSED = 'HANDLER_PAUSED'
const RETRY = 'retry '
/** A caller that waits at a process that was stopped is answered. */
const CLOSING = 'SHUTTING_DOWN'
/** Errors that store failures may cause. Other writers are not a failure: a caller waits for its turn, and is never refused because of them. */
const TROUBLED: ReadonlySet<string> = new Set(['LEDGER_UNAVAILABLE', 'STORAGE_FULL'])

const isRefusal = (error: unknown): boolean => error instanceof TrihandError && OVERTAKEN.has(error.code)

export class Client {
  readonly acknowledged: Acknowledged[] = []
  /** Events that were reported to a caller as not existing. */
  readonly denied: Sending[] = []
  /** "Run again" answers that were accepted while the previous attempt was active, or frozen. */
  readonly hasty: { readonly task: TaskId; readonly run: RunId; readonly step: string }[] = []
  readonly violations: string[] = []
  readonly #scheduler: Scheduler
  readonly #world: () => World
  readonly #open = new Map<Call, (told: Told<never>) => void>()
  readonly #sendings = new Map<string, number>()

  constructor(scheduler: Scheduler, world: () => World) {
    this.#scheduler = scheduler
    this.#world = world
  }

  /** Calls whose worker still lives and has not answered. */
  get unanswered(): readonly string[] {
    return [...this.#open.keys()].map(({ name, worker }) => `${name} at ${worker.name}`)
  }

  /** The worker is gone: its callers will wait forever, and know it. */
  lose(worker: SimWorker): void {
    for (const [call, tell] of [...this.#open]) {
      if (call.worker !== worker) continue
      this.#open.delete(call)
      tell({ kind: 'unknown' })
    }
  }

  send(worker: SimWorker, sending: Sending, hear: (told: Told<Receipt>) => void): void {
    const times = (this.#sendings.get(sending.id) ?? 0) + 1
    this.#sendings.set(sending.id, times)
    this.#call(
      worker,
      `send ${sending.id}`,
      (engine) => engine.send({ ...sending, source: 'sim' }),
      (told) => {
        if (told.kind === 'done') this.acknowledged.push({ kind: 'event', sending, receipt: told.value })
        // Sent only once and not done: it must not exist, now or later.
        if (told.kind === 'not_done' && this.#sendings.get(sending.id) === 1) this.denied.push(sending)
        hear(told)
      },
    )
  }

  isDenied(id: string): boolean {
    return this.denied.some((sending) => sending.id === id)
  }

  startRun(
    worker: SimWorker,
    handler: string,
    input: Json,
    session: SessionId | null,
    hear: (told: Told<RunId>) => void,
  ): void {
    const work = (engine: Engine): Promise<RunId> =>
      engine.startRun(handler, input, session === null ? {} : { session })
    this.#call(worker, `start ${handler}`, work, (told) => {
      if (told.kind === 'done') this.acknowledged.push({ kind: 'run', run: told.value })
      hear(told)
    })
  }

  createSession(worker: SimWorker, hear: (told: Told<SessionId>) => void): void {
    const work = (engine: Engine): Promise<SessionId> => engine.sessions.create()
    this.#call(worker, 'create a session', work, (told) => {
      if (told.kind === 'done') this.acknowledged.push({ kind: 'session', session: told.value })
      hear(told)
    })
  }

  cancel(worker: SimWorker, run: RunId): void {
    const work = (engine: Engine): Promise<void> => engine.cancel(run, 'client', 'no longer wanted')
    this.#call(worker, `cancel ${run}`, work, (told) => {
      if (told.kind === 'done') this.acknowledged.push({ kind: 'cancel', run })
    })
  }

  /** `hear` receives whether the call must be repeated. */
  askCoordinator(
    worker: SimWorker,
    asked: { readonly coordinator: string; readonly fact: string; readonly id: string },
    work: (engine: Engine) => Promise<void>,
    hear: (again: boolean) => void,
  ): void {
    this.#call(worker, `${asked.fact} of ${asked.coordinator}`, work, (told) => {
      if (told.kind === 'done') this.acknowledged.push({ kind: 'coordinator', ...asked })
      hear(told.kind !== 'done' && told.isRefused !== true)
    })
  }

  decide(worker: SimWorker, task: TaskId, by: Identity, decision: Decision): void {
    const work = (engine: Engine): Promise<unknown> => engine.tasks.submit(task, by, decision)
    this.#call(worker, `${decision.action} ${task}`, work, (told) => {
      if (told.kind === 'done') this.acknowledged.push({ kind: 'decision', task, action: decision.action })
    })
  }

  retry(worker: SimWorker, run: RunId): void {
    const work = (engine: Engine): Promise<unknown> => engine.retry(run, 'client')
    this.#call(worker, `${RETRY}${run}`, work, (told) => {
      if (told.kind === 'done') this.acknowledged.push({ kind: 'retry', run })
    })
  }

  /** By run and step: the same as a decision on the task that asks. */
  resolve(worker: SimWorker, run: RunId, step: string, verdict: Verdict): void {
    const word = verdict === 'happened' ? { verdict, by: 'client', result: 'charged' } : { verdict, by: 'client' }
    const work = (engine: Engine): Promise<TaskId> => answerStep(engine, run, step, word)
    const before = this.#world().lastOf(run, step)
    this.#call(worker, `resolve ${run} ${step}`, work, (told) => {
      if (told.kind !== 'done') return
      const task = told.value
      this.acknowledged.push({ kind: 'decision', task, action: actionOf(verdict) })
      if (verdict === 'run_again' && before !== undefined && this.#world().mayStillAct(before))
        this.hasty.push({ task, run, step })
    })
  }

  #call<T>(worker: SimWorker, name: string, work: (engine: Engine) => Promise<T>, hear: (told: Told<T>) => void): void {
    const call: Call = { name, worker }
    this.#open.set(call, hear)
    const answer = (told: Told<T>): void => {
      if (this.#open.delete(call)) hear(told)
    }
    this.#scheduler.submit(worker, () => {
      void work(worker.engine).then(
        (value) => answer({ kind: 'done', value }),
        (error: unknown) => answer({ kind: this.#outcomeOf(call, error), isRefused: isRefusal(error) }),
      )
    })
  }

  #outcomeOf({ name, worker }: Call, error: unknown): 'not_done' | 'unknown' {
    if (!(error instanceof TrihandError)) {
      this.violations.push(`${name} threw ${String(error)}`)
      return 'unknown'
    }
    const isClosing = error.code === CLOSING && worker.phase === 'stopping'
    const isDeclared = isClosing || (error.code === PAUSED && name.startsWith(RETRY))
    if (!TROUBLED.has(error.code) && !OVERTAKEN.has(error.code) && !isDeclared)
      this.violations.push(`${name} was refused: ${error.message}`)
    return error.outcome
  }
}
