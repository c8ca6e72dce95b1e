/**
 * The steps of one entry of a handler: each call of `step.run` and the other step functions becomes one request at the gate.
 *
 * Owns addresses (step-api-1) and the parsing of options. Never decides, waits or stores anything.
 */
import { readGivenContext } from '#executors/contract.ts'
import { requireCapability } from '#model/access/module.ts'
import { type CodeLimits, requireAddress } from '#model/access/outbound.ts'
import { declaredRequester, knownRequesters } from '#model/access/requester.ts'
import { spelledConstraints } from '#model/flow/policies/constraints.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import { isLoopKey, isStepName, stepAddress } from '#model/run/step.ts'
import type { People } from '#model/task/human.ts'
import type {
  CallGate,
  EmittedEvent,
  Entry,
  OnParentEnd,
  StepContext,
  StepPort,
  TaskRequest,
  WaitAnswer,
  WaitRequest,
} from '#ports/step-port.ts'
import type { ToolContext } from '#ports/tool.ts'
import { Rounds } from './rounds.ts'
import type {
  ExecuteOptions,
  FetchAnswer,
  FetchOptions,
  HumanStepOptions,
  InputWhenBegun,
  InvokeStepOptions,
  LifecycleOptions,
  OutgoingEvent,
  ParseDuration,
  Readers,
  Replayed,
  Retrying,
  RunOptions,
  Step,
  WaitOptions,
  WaitResult,
} from './step-api.ts'

/*
 * One HTTP request as a step: what is sent, and which answers count.
 * Owns both. The fetch is passed in, and the caller that performs the step retries it.
 */

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Repeating these has no effect, even if the other side ignores idempotency keys. */
const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const KEY = 'idempotency-key'
/** The other side asks for another call later, or could not answer. */
const isTrouble = (status: number): boolean => status === 408 || status === 429 || status >= 500

const fetchRequest = (url: string | URL, { method = 'GET', headers = {}, body, json }: FetchOptions): Asked => {
  if (body !== undefined && json !== undefined)
    throw new TrihandError('STEP_MISUSED', 'step.fetch takes a body or json, not both')
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const asked = { url: String(url), method: method.toUpperCase() }
  if (json === undefined) return { ...asked, headers: named, ...(body === undefined ? {} : { body }) }
  return {
    ...asked,
    headers: { 'content-type': 'application/json', ...named },
    body: JSON.stringify(toJson(json)),
  }
}

const answeredFetch = async (
  fetch: ToolContext['fetch'] | undefined,
  { url, method, headers, ...content }: Asked,
  { effectKey, signal }: StepContext,
): Promise<FetchAnswer> => {
  if (fetch === undefined) throw new TrihandError('FETCH_FAILED', 'this process has no outbound network access')
  const keyed = HARMLESS.has(method) || KEY in headers ? headers : { ...headers, [KEY]: effectKey }
  const answer = await fetch(url, { method, headers: keyed, signal, ...content })
  if (!isTrouble(answer.status)) return { status: answer.status, headers: answer.headers, text: answer.text }
  throw new TrihandError('FETCH_FAILED', `${new URL(url).host} answered ${answer.status}`)
}

/** Checked also for code without types: a value that is not known would be taken for the default. */
const gateOf = (step: string, word: CallGate): CallGate => {
  if (word === 'none') return word
  throw new TrihandError('MANIFEST_INVALID', `gate of ${step} is ${JSON.stringify(word)}; write none, or omit it`)
}

const onEndOf = (step: string, word: OnParentEnd): OnParentEnd => {
  if (word === 'cancel' || word === 'detach') return word
  throw new TrihandError(
    'MANIFEST_INVALID',
    `onParentEnd of ${step} is ${JSON.stringify(word)}; write cancel or detach`,
  )
}

const NO_OPTIONS: RunOptions<never> = {}
const TASK_TIMEOUT_MS = 30_000

const taskRequest = (step: string, options: ExecuteOptions, parse: ParseDuration): TaskRequest => {
  const {
    type,
    task,
    execution_context: wire,
    context = wire === undefined ? {} : readGivenContext(wire),
    constraints = {},
    models = [],
    onPartial = 'accept',
    effect = 'idempotent',
  } = options
  const { task_type: taskType = type, ...input } = task
  const { constraints: spelled, refused } = spelledConstraints(constraints)
  if (refused !== null)
    throw new TrihandError('ENVELOPE_INVALID', `constraints.${refused} of ${step} is unknown or given twice`)
  const { timeout, ...limits } = spelled
  return {
    step,
    effect,
    retry: { ...DEFAULT_RETRY, ...options.retry },
    executorType: type,
    task: { type: String(taskType), input: toJson(input) },
    context,
    constraints: { ...limits, timeoutMs: timeout === undefined ? TASK_TIMEOUT_MS : parse(timeout) },
    models,
    onPartial,
  }
}

const typesOf = (options: WaitOptions): { readonly mode: 'any' | 'all'; readonly types: readonly string[] } => {
  const given = [options.event === undefined ? undefined : [options.event], options.anyOf, options.allOf].filter(
    (list) => list !== undefined,
  )
  const types = given[0]
  if (given.length !== 1 || types === undefined || types.length === 0) {
    throw new TrihandError('STEP_MISUSED', 'waitForEvent takes exactly one of event, anyOf and allOf')
  }
  return { mode: options.allOf === undefined ? 'any' : 'all', types }
}

const resultOf = (answer: WaitAnswer): WaitResult => {
  const [event] = answer.events
  if (answer.status === 'timed_out' || event === undefined) return { ...answer, status: 'timed_out', event: null }
  return { ...answer, status: 'received', event }
}

/** Created for every run, so rare members are created on demand. Members are functions of their own, because authors destructure the object. */
export class Steps implements Step, Replayed {
  readonly run: Step['run']
  readonly #gate: StepPort
  readonly #readers: Readers
  readonly #limits: CodeLimits
  readonly #asked: Pick<Entry, 'requesters' | 'input'>
  readonly #rounds = new Rounds()
  /** Who has decided which step, up to this point of the entry. */
  #deciders: Map<string, readonly string[]> | null = null

  constructor(
    gate: StepPort,
    readers: Readers,
    options: CodeLimits & { readonly timeoutMs: number },
    asked: Pick<Entry, 'requesters' | 'input'>,
  ) {
    const { timeoutMs } = options
    this.#gate = gate
    this.#limits = options
    this.#asked = asked
    this.#readers = readers
    this.run = (name, body, options = NO_OPTIONS) => {
      // The gate's own promise, without another around it: this is called for every step.
      try {
        return gate.run({
          step: this.#address(name, options.key),
          effect: options.effect ?? 'idempotent',
          retry: options.retry === undefined ? DEFAULT_RETRY : { ...DEFAULT_RETRY, ...options.retry },
          timeoutMs: options.timeout === undefined ? timeoutMs : readers.parse(options.timeout),
          body,
          fallback: options.fallback,
          input: options.input,
          target: options.target,
        }) as Promise<never>
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }

  get execute(): Step['execute'] {
    return async (name, options) =>
      this.#gate.perform(taskRequest(this.#address(name, options.key), options, this.#readers.parse))
  }

  get fetch(): Step['fetch'] {
    return async (name, url, options = {}) => {
      const step = this.#address(name, options.key)
      const { effect = 'idempotent', retry, timeout, target } = options
      const asked = fetchRequest(url, options)
      // Refused before anything is intended, because a request that was never sent needs no person to ask whether it happened.
      if (this.#gate.stateOf(step) !== 'settled') requireAddress(this.#limits, asked.url)
      const answer = await this.#gate.run({
        ...{ step, effect, fallback: undefined, input: { method: asked.method, url: asked.url } },
        retry: { ...DEFAULT_RETRY, ...retry },
        timeoutMs: timeout === undefined ? TASK_TIMEOUT_MS : this.#readers.parse(timeout),
        target: target ?? asked.url,
        body: (context) => answeredFetch(this.#readers.fetchFor?.(this.#limits), asked, context),
      })
      return answer as unknown as FetchAnswer
    }
  }

  get secret(): Step['secret'] {
    return async (name) => {
      requireCapability(this.#limits.module, { kind: 'secret', name })
      const value = this.#readers.secret?.(name) ?? null
      if (value === null) throw new TrihandError('ENV_MISSING', `${name} is not set`)
      return value
    }
  }

  get sleep(): Step['sleep'] {
    return async (name, duration, options = {}) => {
      const ms = this.#readers.parse(duration)
      await this.#gate.sleepUntil(this.#address(name, options.key), (now) => now + ms)
    }
  }

  get sleepUntil(): Step['sleepUntil'] {
    return async (name, instant, options = {}) => {
      const at = Number(instant)
      if (!Number.isFinite(at)) throw new TrihandError('STEP_MISUSED', `sleepUntil ${name}: not an instant`)
      await this.#gate.sleepUntil(this.#address(name, options.key), () => at)
    }
  }

  get waitForEvent(): Step['waitForEvent'] {
    return async (name, options) => {
      const { mode, types } = typesOf(options)
      const answer = await this.#gate.waitForEvent(this.#address(name, options.key), {
        mode,
        types,
        match: options.match ?? null,
        condition: options.if ?? null,
        timeoutMs: options.timeout === undefined ? null : this.#readers.parse(options.timeout),
        lookback: lookbackOf(options.lookback, this.#readers.parse),
        most: mostOf(options),
        isShared: false,
      })
      return resultOf(answer)
    }
  }

  get invoke(): Step['invoke'] {
    return async (
      name,
      handler,
      given,
      options: InvokeStepOptions & LifecycleOptions & InputWhenBegun & Retrying = {},
    ) => {
      const { key, reports, makeInput, onParentEnd, retries, gate, terms } = options
      const step = this.#address(name, key)
      const isBegun = makeInput !== undefined && this.#gate.stateOf(step) !== 'none'
      return this.#gate.invoke(step, handler, isBegun ? null : toJson(makeInput?.() ?? given), {
        ...(reports !== undefined && { reports }),
        ...(onParentEnd !== undefined && { onParentEnd: onEndOf(step, onParentEnd) }),
        ...(gate !== undefined && { gate: gateOf(step, gate) }),
        ...(terms !== undefined && { terms }),
        ...(retries !== undefined && { retries: stepAddress(name, retries.key) }),
      })
    }
  }

  /** Without a promise: one for each would cost a long plan as much as all its steps. */
  ended(name: string): ReturnType<NonNullable<Replayed['ended']>> {
    return this.#gate.valueOf(stepAddress(name, null))
  }

  get human(): Step['human'] {
    return async (name, task, { key, revises, requester, reports }: HumanStepOptions & LifecycleOptions = {}) => {
      const step = this.#address(name, key)
      const spec = this.#readers.taskOf(name, task).make({}, this.#peopleFor(requester))
      const again = revises === undefined ? {} : { revises: { task: revises.task, revision: revises.revision } }
      const reply = await this.#gate.ask(step, { spec, ...again, ...(reports === undefined ? {} : { reports }) })
      this.#deciders ??= new Map()
      this.#deciders.set(name, [...(this.#deciders.get(name) ?? []), ...reply.deciders])
      return reply
    }
  }

  get emit(): Step['emit'] {
    return async (name, events, options = {}) => {
      const list: readonly OutgoingEvent[] = Array.isArray(events) ? events : [events]
      return this.#gate.emit(
        this.#address(name, options.key),
        list.map((event) => outgoing(event, this.#readers.parse)),
      )
    }
  }

  /** step-api-1 */
  #address(name: string, key: string | undefined): string {
    if (!isStepName(name)) throw new TrihandError('STEP_NAME_INVALID', `"${name}" is not a step name`)
    if (key !== undefined) {
      // `#` is reserved for numbering the iterations that have no key.
      if (!isLoopKey(key) || key.startsWith('#'))
        throw new TrihandError('STEP_NAME_INVALID', `"${key}" is not a loop key for step ${name}`)
      return stepAddress(name, key)
    }
    const round = this.#rounds.next(name)
    return stepAddress(name, round === 0 ? null : `#${round}`)
  }

  #peopleFor(requester: string | undefined): People {
    return {
      isKnown: () => true,
      requesters: knownRequesters(this.#asked.requesters, requester ?? declaredRequester(this.#asked.input)),
      decidersOf: (step) => {
        const people = this.#deciders?.get(step)
        // Fails closed: a misspelt name must not let everyone decide.
        if (people === undefined)
          throw new TrihandError('SEPARATION_OF_DUTIES', `no person has decided a step ${step} before this one`)
        return people
      },
    }
  }
}

const MOST_EVENTS = 1_000

const mostOf = ({ take = 'one', max, allOf }: WaitOptions): number | null => {
  if (take !== 'one' && take !== 'all')
    throw new TrihandError('STEP_MISUSED', `waitForEvent takes one event or all: take is ${JSON.stringify(take)}`)
  if (take === 'one') {
    if (max === undefined) return null
    throw new TrihandError('STEP_MISUSED', 'waitForEvent has a max only with take: all')
  }
  if (allOf !== undefined)
    throw new TrihandError(
      'STEP_MISUSED',
      'waitForEvent with allOf takes one event of each type; take: all goes with event or anyOf',
    )
  const most = max ?? MOST_EVENTS
  if (!Number.isInteger(most) || most < 1 || most > MOST_EVENTS)
    throw new TrihandError('STEP_MISUSED', `the max of waitForEvent must be a whole number from 1 to ${MOST_EVENTS}`)
  return most
}

const lookbackOf = (given: WaitOptions['lookback'], parse: ParseDuration): WaitRequest['lookback'] => {
  if (given === undefined || given === 'run') return { kind: 'run' }
  return given === 'none' ? { kind: 'none' } : { kind: 'within', ms: parse(given) }
}

const outgoing = (event: OutgoingEvent, parse: ParseDuration): EmittedEvent => ({
  type: event.type,
  data: toJson(event.data ?? {}),
  subject: event.subject ?? null,
  ...(event.delay === undefined ? {} : { delayMs: parse(event.delay) }),
})
