/**
 * A function of an isolated module, as the host sees it: its code runs in another process and sends every step call to the host.
 *
 * Owns what the code may call and how it is answered. Each message becomes a call of the same context that code in this process is given,
 * so it has no more permissions. Starting processes is a port.
 *
 * isolated-1  A lost process fails the step bodies that were active in it; the function is entered again in another process.
 * isolated-2  The run stays in memory while a call of its code is on the way, as if the code had called at once.
 */

import type { Isolation } from '#model/access/module.ts'
import { isErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { partial } from '#model/run/partial.ts'
import { FinalError, isFinal, isStepFailure, StepFailure } from '#model/run/step-failure.ts'
import type { Call, CodeFailure, CodeFile, CodeProcess, CodeProcesses, ToProcess } from '#ports/code-process.ts'
import type { Abort } from '#ports/executor.ts'
import type { Entry, StepContext } from '#ports/step-port.ts'
import type { EnterOptions, FunctionContext } from './function.ts'
import { type Asked, questions } from './isolated-calls.ts'

/*
 * Bodies of steps whose code is in another process: which process can run the body of a step now.
 * Owns the match. A retried step runs in whatever process the function is in by then, once its code has reached the step.
 */

interface Knows {
  readonly isAlive: boolean
  body(call: number, fallback: boolean, context: StepContext): Promise<unknown>
}

interface Offer {
  readonly by: Knows
  readonly call: number
}

class Bodies {
  private readonly offers = new Map<string, Offer>()
  private readonly waiting = new Map<string, (() => void)[]>()

  offer(step: string, by: Knows, call: number): void {
    this.offers.set(step, { by, call })
    const waiting = this.waiting.get(step) ?? []
    this.waiting.delete(step)
    for (const goOn of waiting) goOn()
  }

  async perform(step: string, fallback: boolean, context: StepContext): Promise<unknown> {
    for (;;) {
      const offer = this.offers.get(step)
      if (offer?.by.isAlive === true) return offer.by.body(offer.call, fallback, context)
      await new Promise<void>((resolve, reject) => {
        this.waiting.set(step, [...(this.waiting.get(step) ?? []), resolve])
        context.signal.addEventListener('abort', () => reject(context.signal.reason), { once: true })
      })
    }
  }
}

export interface IsolatedDeps {
  readonly processes: CodeProcesses
  /** Performs an HTTP request of the code, through the guarded fetch. */
  readonly http: (limits: EnterOptions, request: Call, signal: AbortSignal) => Promise<Json>
}

/** How often in a row an entry is started again when nothing but its own code can have ended the process. */
const MAX_DEATHS = 3

/** The process was lost while the code was between two steps. */
class CodeLost extends TrihandError {
  readonly hadBodies: boolean

  constructor(detail: string, hadBodies: boolean) {
    super('MODULE_PROCESS_LOST', detail)
    this.hadBodies = hadBodies
  }
}

const packError = (error: unknown): CodeFailure => {
  if (isStepFailure(error)) {
    const { code, step, done, message } = error
    return { code, step, done, message }
  }
  if (error instanceof TrihandError) return { code: error.code, message: error.detail }
  return { message: error instanceof Error ? error.message : String(error), ...(isFinal(error) ? { final: true } : {}) }
}

const openError = (given: Json | undefined): Error => {
  const failure = isJsonRecord(given) ? given : {}
  const message = String(failure['message'] ?? 'it failed')
  const { code, step } = failure
  if (failure['final'] === true) return new FinalError(message)
  if (typeof code !== 'string' || !isErrorCode(code)) return new Error(message)
  if (typeof step !== 'string') return new TrihandError(code, message)
  const done = Array.isArray(failure['done']) ? failure['done'].map(String) : []
  return new StepFailure(step, { code, message: message.replace(`step ${step} failed: `, ''), done })
}

interface Body {
  readonly context: StepContext
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** One execution of the code, in one process. */
class Play {
  readonly bodies: Bodies
  readonly context: FunctionContext
  private readonly entry: Pick<Entry, 'whileActive'>
  private readonly process: CodeProcess
  private readonly http: (request: Call) => Promise<Json>
  private readonly running = new Map<number, Body>()
  private sent = 0
  private count = 0
  private free: (() => void) | null = null
  private over: ((end: () => unknown) => void) | null = null

  constructor(parts: Pick<Play, 'bodies' | 'context'> & { process: CodeProcess; entry: Entry; http: Play['http'] }) {
    this.bodies = parts.bodies
    this.context = parts.context
    this.process = parts.process
    this.entry = parts.entry
    this.http = parts.http
  }

  get isAlive(): boolean {
    return this.over !== null
  }

  run({ file, name }: CodeFile): Promise<unknown> {
    const { input, event, events, schedule, run, lookups, effectKey, signal } = this.context
    return new Promise((resolve, reject) => {
      this.over = (end) => {
        this.over = null
        this.letGo()
        try {
          resolve(end())
        } catch (error) {
          reject(error)
        }
      }
      this.process.begin({
        turn: (turn, calls) => this.turn(turn, calls),
        lost: (error) => this.lost(error),
      })
      signal.addEventListener('abort', () => this.leave('the run has moved to another process'), { once: true })
      this.send({ t: 'enter', file, name, context: { input, event, events, schedule, run, lookups, effectKey } })
    })
  }

  /** Runs the body of a step in the process that offered it. */
  body(call: number, fallback: boolean, context: StepContext): Promise<unknown> {
    const id = ++this.count
    const { attempt, effectKey, signal } = context
    return new Promise((resolve, reject) => {
      this.running.set(id, { context, resolve, reject })
      signal.addEventListener('abort', () => this.send({ t: 'abort', id, message: 'the step was stopped' }), {
        once: true,
      })
      this.send({ t: 'body', id, call, fallback, attempt, effectKey })
    })
  }

  // isolated-2
  private send(message: ToProcess): void {
    if (this.over === null) return
    if (this.free === null)
      void this.entry.whileActive(
        () =>
          new Promise<void>((resolve) => {
            this.free = resolve
          }),
      )
    this.sent += 1
    this.process.send(this.sent, message)
  }

  private letGo(): void {
    this.free?.()
    this.free = null
  }

  private leave(reason: string): void {
    if (this.over === null) return
    this.over = null
    this.letGo()
    this.process.leave(reason)
  }

  private turn(turn: number, calls: readonly Call[]): void {
    for (const call of calls) if (this.over !== null) this.take(call)
    if (turn === this.sent) this.letGo()
  }

  // isolated-1
  private lost(error: TrihandError): void {
    const bodies = [...this.running.values()]
    this.running.clear()
    for (const { reject } of bodies) reject(error)
    this.over?.(() => {
      throw new CodeLost(error.detail, bodies.length > 0)
    })
  }

  private take(call: Call): void {
    const { op, id } = call
    switch (op) {
      case 'done':
        return this.done(call)
      case 'bodyDone':
        return this.bodyDone(call)
      case 'intent':
        return this.attempt(() => this.context.emit(String(call['type']), call['data'], call['options'] as object))
      case 'tell':
        return this.attempt(() => this.running.get(Number(call['body']))?.context.tell(call['delta'] as never))
      default:
        if (typeof op === 'string' && typeof id === 'number') this.answer(id, () => this.asked(op, id, call))
    }
  }

  private async asked(op: string, id: number, call: Call): Promise<unknown> {
    if (op === 'http') return this.http(isJsonRecord(call['request']) ? call['request'] : {})
    if (op === 'recall') return this.context.recall(String(call['key']))
    if (op === 'stillMine') return this.running.get(Number(call['body']))?.context.stillMine() ?? false
    const question = Object.hasOwn(questions, op) ? questions[op] : undefined
    if (question === undefined) throw new TrihandError('STEP_MISUSED', `step.${op} does not exist`)
    const asked: Asked = {
      step: this.context.step,
      call,
      name: String(call['name']),
      options: isJsonRecord(call['options']) ? call['options'] : {},
      body: (key, fallback) => {
        if (!fallback) this.bodies.offer(key, this, id)
        return (context) => this.bodies.perform(key, fallback, context)
      },
    }
    return question(asked)
  }

  private answer(id: number, work: () => Promise<unknown>): void {
    work().then(
      (value) => this.send({ t: 'answer', id, value: value ?? null }),
      (error: unknown) => this.send({ t: 'answer', id, error: packError(error) }),
    )
  }

  /** Errors that code in this process would see where it calls: here no caller can catch them, so they fail the function. */
  private attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.finish(() => {
        throw error
      })
    }
  }

  private finish(end: () => unknown): void {
    const over = this.over
    if (over === null) return
    this.process.leave('the function has ended')
    over(end)
  }

  private done(call: Call): void {
    this.finish(() => {
      if (call['error'] !== undefined) throw openError(call['error'])
      return call['partial'] === true ? partial(call['value']) : call['value']
    })
  }

  private bodyDone(call: Call): void {
    const id = Number(call['id'])
    const body = this.running.get(id)
    this.running.delete(id)
    if (body === undefined) return
    try {
      if (call['error'] !== undefined) throw openError(call['error'])
      for (const intent of Array.isArray(call['intents']) ? call['intents'] : []) intend(body.context, intent as Json[])
      body.resolve(call['value'])
    } catch (error) {
      body.reject(error as Error)
    }
  }
}

const intend = (context: StepContext, [what, first, second, third]: readonly Json[]): void => {
  if (what === 'emit') context.emit(String(first), second ?? null, isJsonRecord(third) ? third : {})
  else if (what === 'write') context.write(String(first), String(second), third ?? null)
  else if (what === 'remember') context.remember(String(first), second ?? null)
}

type EnterFunction = (entry: Entry, options: EnterOptions, abort: Abort) => unknown

/** Enters a function whose code is a file of an isolated module. */
export const enterIsolated =
  (deps: IsolatedDeps, enter: EnterFunction) =>
  async (
    entry: Entry,
    options: EnterOptions,
    abort: Abort,
    at: { code: CodeFile; isolation: Isolation },
  ): Promise<unknown> => {
    const bodies = new Bodies()
    const code = async (context: FunctionContext): Promise<unknown> => {
      const { signal } = context
      const process = await deps.processes.acquire(options.module?.name ?? options.name, at.isolation, signal)
      const http = (request: Call): Promise<Json> => deps.http(options, request, signal)
      return new Play({ bodies, context, process, entry, http }).run(at.code)
    }
    for (let deaths = 0; ; ) {
      try {
        return await enter(entry, { ...options, code }, abort)
      } catch (error) {
        if (!(error instanceof CodeLost) || options.effect !== 'idempotent' || abort.signal.aborted) throw error
        if (!error.hadBodies) deaths += 1
        if (deaths >= MAX_DEATHS)
          throw new TrihandError('MODULE_PROCESS_LOST', `${error.detail}, ${deaths} times in a row`)
      }
    }
  }
