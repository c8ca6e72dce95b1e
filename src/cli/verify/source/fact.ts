/**
 * Parses the body of a fact from its text, with only the members that the checks need.
 *
 * Owns the shapes as the written specification gives them. A body of another shape becomes null: a finding, never an exception.
 */
export type Fact =
  | { readonly type: 'run.started'; readonly deadlineAt: number | null; readonly startBy: number | null }
  | { readonly type: 'run.retry_scheduled'; readonly attempt: number; readonly wakeAt: number }
  | {
      readonly type:
        | 'run.retry_due'
        | 'run.cancel_requested'
        | 'run.paused'
        | 'run.resumed'
        | 'run.entered'
        | 'run.handed_over'
    }
  /** `limits` null: the run has none, or an older version wrote the fact. */
  | { readonly type: 'run.retried'; readonly limits: Limits | null; readonly anew: readonly string[] }
  | { readonly type: 'run.completed'; readonly status: string; readonly events: readonly string[] }
  | { readonly type: 'run.failed' | 'run.cancelled' | 'run.expired' | 'run.quarantined' }
  | StepFact

export interface Limits {
  readonly startBy: number | null
  readonly deadlineAt: number | null
}

export type StepFact = { readonly step: string } & (
  | { readonly type: 'step.intended'; readonly attempt: number; readonly effectKey: string }
  | { readonly type: 'step.completed'; readonly attempt: number; readonly events: readonly string[] }
  | { readonly type: 'step.retry_scheduled'; readonly attempt: number; readonly wakeAt: number }
  | { readonly type: 'step.failed'; readonly attempt: number }
  | { readonly type: 'step.uncertain'; readonly attempt: number; readonly task: string | null }
  | { readonly type: 'step.resolved'; readonly verdict: string }
  | { readonly type: 'step.late_result' }
  | {
      readonly type: 'step.reused'
      readonly of: string
      readonly seq: number
      readonly settled: string
      readonly result: string | null
      /** The events that the wait of the other run has received. */
      readonly received: readonly Received[]
    }
  | { readonly type: 'timer.set'; readonly wakeAt: number }
  | { readonly type: 'step.retry_due' | 'timer.fired' | 'wait.timed_out' }
  | { readonly type: 'wait.opened'; readonly wait: WaitSpec }
  | { readonly type: 'wait.received'; readonly received: readonly Received[] }
  | { readonly type: 'child.started'; readonly child: string; readonly again: boolean }
  | { readonly type: 'child.ended'; readonly child: string; readonly end: string }
)

export interface Received {
  readonly type: string
  readonly sequence: number
}

export interface WaitSpec {
  readonly mode: string
  readonly types: readonly string[]
  readonly match: { readonly path: string; readonly value: string } | null
  readonly condition: string | null
  readonly timeoutAt: number | null
  readonly base: number
  /** Events that the run has received before do not count. */
  readonly isFresh: boolean
  /** The most events that it receives at once. */
  readonly most: number
}

/** A JSON object whose members are read by name and type; a member of another type throws. */
export class Body {
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(value: unknown) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new TypeError('not an object')
    this.#fields = value as Readonly<Record<string, unknown>>
  }

  text(name: string): string {
    const value = this.#fields[name]
    if (typeof value !== 'string') throw new TypeError(`${name} is not a text`)
    return value
  }

  /** Any member, as JSON text. */
  written(name: string): string {
    return JSON.stringify(this.#fields[name])
  }

  number(name: string): number {
    const value = this.#fields[name]
    if (typeof value !== 'number') throw new TypeError(`${name} is not a number`)
    return value
  }

  texts(name: string): readonly string[] {
    const value = this.#fields[name] ?? []
    if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string'))
      throw new TypeError(`${name} is not a list of texts`)
    return value
  }

  body(name: string): Body {
    return new Body(this.#fields[name])
  }

  orNull<Value>(name: string, read: (name: string) => Value): Value | null {
    return (this.#fields[name] ?? null) === null ? null : read(name)
  }

  flag(name: string): boolean {
    const value = this.#fields[name]
    if (typeof value !== 'boolean') throw new TypeError(`${name} is neither true nor false`)
    return value
  }

  numbers(name: string): readonly number[] {
    const value = this.#fields[name]
    if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'number'))
      throw new TypeError(`${name} is not a list of numbers`)
    return value
  }

  list(name: string): readonly Body[] {
    const value = this.#fields[name]
    if (!Array.isArray(value)) throw new TypeError(`${name} is not a list`)
    return value.map((entry) => new Body(entry))
  }

  bodies(): readonly Body[] {
    return Object.values(this.#fields).map((value) => new Body(value))
  }
}

const readWait = (wait: Body): WaitSpec => {
  const match = wait.orNull('match', (name) => wait.body(name))
  return {
    mode: wait.text('mode'),
    types: wait.texts('types'),
    match: match && { path: match.text('path'), value: match.text('value') },
    condition: wait.orNull('condition', (name) => wait.text(name)),
    timeoutAt: wait.orNull('timeoutAt', (name) => wait.number(name)),
    base: wait.number('base'),
    isFresh: wait.orNull('fresh', (name) => wait.flag(name)) ?? false,
    most: wait.orNull('most', (name) => wait.number(name)) ?? 1,
  }
}

const readReceived = (event: Body): Received => ({ type: event.text('type'), sequence: event.number('sequence') })

const readLimits = (body: Body): Limits => ({
  deadlineAt: body.orNull('deadlineAt', (name) => body.number(name)),
  startBy: body.orNull('startBy', (name) => body.number(name)),
})

const read = (type: string, body: Body): Fact | null => {
  switch (type) {
    case 'run.started':
      return { type, ...readLimits(body) }
    case 'run.retried':
      return {
        type,
        limits: body.orNull('limits', (name) => readLimits(body.body(name))),
        anew: body.orNull('anew', (name) => body.texts(name)) ?? [],
      }
    case 'run.retry_scheduled':
      return { type, attempt: body.number('attempt'), wakeAt: body.number('wakeAt') }
    case 'run.completed':
      return { type, status: body.text('status'), events: body.texts('events') }
    case 'run.retry_due':
    case 'run.cancel_requested':
    case 'run.paused':
    case 'run.resumed':
    case 'run.entered':
    case 'run.handed_over':
    case 'run.failed':
    case 'run.cancelled':
    case 'run.expired':
    case 'run.quarantined':
      return { type }
    default:
      return readStep(type, body)
  }
}

const readStep = (type: string, body: Body): StepFact | null => {
  const step = body.text('step')
  switch (type) {
    case 'step.intended':
      return { type, step, attempt: body.number('attempt'), effectKey: body.text('effectKey') }
    case 'step.completed':
      return { type, step, attempt: body.number('attempt'), events: body.texts('events') }
    case 'step.retry_scheduled':
      return { type, step, attempt: body.number('attempt'), wakeAt: body.number('wakeAt') }
    case 'step.failed':
      return { type, step, attempt: body.number('attempt') }
    case 'step.uncertain':
      return { type, step, attempt: body.number('attempt'), task: body.orNull('task', (name) => body.text(name)) }
    case 'step.resolved':
      return { type, step, verdict: body.text('verdict') }
    case 'step.reused': {
      const settled = body.body('settled')
      const result = settled.orNull('result', (name) => settled.written(name))
      const received = (settled.orNull('events', (name) => settled.list(name)) ?? []).map(readReceived)
      return {
        type,
        step,
        of: body.text('of'),
        seq: body.number('seq'),
        settled: settled.text('kind'),
        result,
        received,
      }
    }
    case 'step.retry_due':
    case 'step.late_result':
    case 'timer.fired':
    case 'wait.timed_out':
      return { type, step }
    case 'timer.set':
      return { type, step, wakeAt: body.number('wakeAt') }
    case 'wait.opened':
      return { type, step, wait: readWait(body.body('wait')) }
    case 'wait.received':
      return {
        type,
        step,
        received: [body.body('event'), ...(body.orNull('others', (name) => body.list(name)) ?? [])].map(readReceived),
      }
    case 'child.started':
      return { type, step, child: body.text('child'), again: body.orNull('again', (name) => body.text(name)) !== null }
    case 'child.ended':
      return { type, step, child: body.text('child'), end: body.body('end').text('kind') }
    default:
      return null
  }
}

/** Null if the text is not a JSON object. */
export const readBody = (text: string): Body | null => {
  try {
    return new Body(JSON.parse(text))
  } catch {
    return null
  }
}

/** Null if the type is unknown or the body lacks members that it requires. */
export const readFact = (type: string, body: Body): Fact | null => {
  try {
    return read(type, body)
  } catch {
    return null
  }
}
