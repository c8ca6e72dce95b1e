/**
 * The state of a run, folded from its facts: the checker's own small implementation, written from the specification and not from the
 * machine it checks.
 *
 * Accepts every fact in every state, like the machine. Never reports errors: the checks look at the state before each fact.
 */
import type { Fact, Received, StepFact, WaitSpec } from '#cli/verify/source/fact.ts'

export type OpenStep = { readonly seq: number } & (
  | { readonly kind: 'intended' }
  /** `task`: the task that asks a person about it. */
  | { readonly kind: 'uncertain'; readonly task: string | null }
  | { readonly kind: 'sleeping'; readonly wakeAt: number }
  /** `wakeAt` null: the instant has passed and was recorded; the next attempt may begin. */
  | { readonly kind: 'retrying'; readonly wakeAt: number | null }
  | { readonly kind: 'waiting'; readonly wait: WaitSpec; readonly received: ReadonlyMap<number, string> }
  /** `again`: the child is to be retried, and may wait at its gate. */
  | { readonly kind: 'calling'; readonly child: string; readonly again: boolean }
)

export interface Step {
  open: OpenStep | null
  /** The accepted result. `aborted`: a person's verdict made it fail. */
  result: 'done' | 'failed' | 'aborted' | null
  /** Results accepted over its whole life; a person's retry clears a failed one and allows another. */
  results: number
  /** Failed attempts since it began, or began again. */
  attempts: number
  /** The instant before which the next attempt must not begin. */
  notBefore: number
  effectKey: string | null
  /** How often a person allowed its effect to be performed again. */
  permissions: number
}

const newStep = (): Step => ({
  open: null,
  result: null,
  results: 0,
  attempts: 0,
  notBefore: 0,
  effectKey: null,
  permissions: 0,
})
const NEW_STEP: Readonly<Step> = newStep()

export class RunState {
  started = false
  deadlineAt: number | null = null
  startBy: number | null = null
  /** The status with which the run has ended; null while it lives. */
  end: string | null = null
  /** Every end it ever had: a person's retry reopens an ended run. */
  readonly ends = new Set<string>()
  cancelled = false
  paused = false
  failures = 0
  retryAt: number | null = null
  /** The steps whose waits have received an event, by its sequence. */
  readonly consumed = new Map<number, string>()
  readonly #steps = new Map<string, Step>()

  /** True while a person's pause holds it; a cancel overrides the pause. */
  get isHeld(): boolean {
    return this.paused && !this.cancelled
  }

  get isUntouched(): boolean {
    return this.#steps.size === 0 && this.failures === 0
  }

  step(address: string): Readonly<Step> {
    return this.#steps.get(address) ?? NEW_STEP
  }

  *openSteps(): Generator<readonly [string, OpenStep]> {
    for (const [address, { open }] of this.#steps) if (open !== null) yield [address, open]
  }

  apply(fact: Fact, seq: number, at: number): void {
    if (!this.started) {
      if (fact.type === 'run.started') this.#start(fact)
    } else if (this.end !== null) {
      if (fact.type === 'run.retried') this.#reopen(fact, at)
    } else if ('step' in fact) {
      this.#applyToStep(fact, seq)
    } else {
      this.#applyToRun(fact)
    }
  }

  #start(fact: Extract<Fact, { readonly type: 'run.started' }>): void {
    this.started = true
    this.deadlineAt = fact.deadlineAt
    this.startBy = fact.startBy
  }

  #applyToRun(fact: Exclude<Fact, StepFact>): void {
    switch (fact.type) {
      case 'run.started':
      case 'run.retried':
      case 'run.handed_over':
        return
      case 'run.entered':
        this.startBy = null
        return
      case 'run.retry_scheduled':
        this.failures = fact.attempt
        this.retryAt = fact.wakeAt
        return
      case 'run.retry_due':
        this.retryAt = null
        return
      case 'run.cancel_requested':
        this.cancelled = true
        return
      case 'run.paused':
      case 'run.resumed':
        this.paused = fact.type === 'run.paused'
        return
      default:
        this.end = fact.type === 'run.completed' ? fact.status : fact.type.slice('run.'.length)
        this.ends.add(this.end)
    }
  }

  #applyToStep(fact: StepFact, seq: number): void {
    const step = this.#touch(fact.step)
    switch (fact.type) {
      case 'step.late_result':
        return
      case 'step.intended':
        step.effectKey ??= fact.effectKey
        return open(step, { kind: 'intended', seq })
      case 'step.uncertain':
        return open(step, { kind: 'uncertain', task: fact.task, seq })
      case 'step.retry_scheduled':
        step.attempts = fact.attempt
        step.notBefore = fact.wakeAt
        return open(step, { kind: 'retrying', wakeAt: fact.wakeAt, seq })
      case 'step.retry_due':
        if (step.open?.kind === 'retrying') step.open = { ...step.open, wakeAt: null }
        return
      case 'timer.set':
        return open(step, { kind: 'sleeping', wakeAt: fact.wakeAt, seq })
      case 'wait.opened':
        return open(step, { kind: 'waiting', wait: fact.wait, received: new Map(), seq })
      case 'child.started':
        return open(step, { kind: 'calling', child: fact.child, again: fact.again, seq })
      case 'step.completed':
      case 'timer.fired':
        return settle(step, 'done')
      case 'wait.timed_out':
        if (step.open?.kind === 'waiting') settle(step, 'done')
        return
      case 'child.ended':
        return settle(step, fact.end === 'done' ? 'done' : 'failed')
      case 'step.failed':
        return settle(step, 'failed')
      case 'step.reused':
        for (const { sequence } of fact.received) this.consumed.set(sequence, fact.step)
        return settle(step, fact.settled === 'failed' ? 'failed' : 'done')
      case 'step.resolved':
        return resolve(step, fact.verdict)
      case 'wait.received':
        for (const { sequence } of fact.received) this.consumed.set(sequence, fact.step)
        return receive(step, fact.received)
    }
  }

  #touch(address: string): Step {
    const known = this.#steps.get(address)
    if (known !== undefined) return known
    const step = newStep()
    this.#steps.set(address, step)
    return step
  }

  /**
   * A person's retry: failed steps get their attempts back; finished steps stay, and so do those that began and are not settled. Waits are
   * opened anew, because their rows are gone, and so are those that timed out and are listed in `anew`. Limits that have passed are lifted,
   * because otherwise they would end the run again.
   */
  #reopen({ limits, anew }: Extract<Fact, { readonly type: 'run.retried' }>, at: number): void {
    const lifted = this.deadlineAt !== null && this.deadlineAt <= at ? null : this.deadlineAt
    this.startBy = limits?.startBy ?? null
    this.deadlineAt = limits === null ? lifted : limits.deadlineAt
    this.end = null
    this.cancelled = false
    this.paused = false
    this.failures = 0
    this.retryAt = null
    for (const [address, step] of this.#steps) {
      // The event of cancel_on that ended the run is waited for anew.
      if (address.startsWith(CANCEL_STEP)) step.result = null
      if (anew.includes(address)) {
        step.result = null
        for (const [sequence, by] of this.consumed) if (by === address) this.consumed.delete(sequence)
      }
      if (step.open?.kind === 'waiting')
        for (const sequence of step.open.received.keys()) this.consumed.delete(sequence)
      if (step.result === 'aborted') step.permissions += 1
      if (step.result === 'failed' || step.result === 'aborted') step.result = null
      else if (step.open === null || !BEGUN_ANEW.has(step.open.kind)) continue
      forget(step)
    }
  }
}

/** What a retried run begins again: an attempt, a wait, a call of a child or of people. */
const CANCEL_STEP = 'trihand.cancel_on['
const BEGUN_ANEW: ReadonlySet<OpenStep['kind']> = new Set(['retrying', 'waiting', 'calling'])

const open = (step: Step, state: OpenStep): void => {
  if (step.result === null) step.open = state
}

const settle = (step: Step, result: 'done' | 'failed' | 'aborted'): void => {
  step.results += 1
  if (step.result !== null) return
  step.result = result
  step.open = null
}

const forget = (step: Step): void => {
  step.open = null
  step.attempts = 0
  step.notBefore = 0
}

const resolve = (step: Step, verdict: string): void => {
  if (verdict === 'happened') return settle(step, 'done')
  if (verdict === 'abort') return settle(step, 'aborted')
  step.permissions += 1
  forget(step)
}

const receive = (step: Step, events: readonly Received[]): void => {
  if (step.open?.kind !== 'waiting') return
  const received = new Map(step.open.received)
  for (const { sequence, type } of events) received.set(sequence, type)
  const open = { ...step.open, received }
  step.open = open
  if (open.wait.mode === 'any' || neededTypes(open).length === 0) settle(step, 'done')
}

/** The types of which an open wait still needs an event: in mode any all of them, in mode all those that have not come. */
export const neededTypes = ({ wait, received }: Extract<OpenStep, { readonly kind: 'waiting' }>): readonly string[] => {
  const had = new Set(wait.mode === 'all' ? received.values() : [])
  return [...new Set(wait.types)].filter((type) => !had.has(type))
}
