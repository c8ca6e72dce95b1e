/**
 * V5, V7, V8, V9, V24: the life of one run, fact by fact.
 *
 * Owns a small fold of its own, so that a wrong rule in the model does not judge itself.
 */
import type { RunFact } from '#model/run/fact.ts'
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'

const ENDS: ReadonlySet<string> = new Set([
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.expired',
  'run.quarantined',
])
const BEGINNINGS: ReadonlySet<string> = new Set([
  'step.intended',
  'step.completed',
  'timer.set',
  'wait.opened',
  'child.started',
  'step.retry_scheduled',
])
const SETTLINGS: ReadonlySet<string> = new Set([
  'step.completed',
  'step.failed',
  'timer.fired',
  'wait.timed_out',
  'child.ended',
])
const MAX_ATTEMPTS = 4

export const checkLives = ({ look }: Evidence): readonly string[] => look.runs().flatMap((run) => new Life(run).judge())

class Life {
  readonly #run: LookedRun
  readonly #wrong: string[] = []
  readonly #settled = new Set<string>()
  readonly #due = new Map<string, number>()
  readonly #attempts = new Map<string, number>()
  readonly #intended = new Set<string>()
  #isOver = false
  #isCancelled = false
  #retryAt: number | null = null

  constructor(run: LookedRun) {
    this.#run = run
  }

  judge(): readonly string[] {
    if (this.#run.facts[0]?.type !== 'run.started') this.#note('V5', 'does not begin with its start', 0)
    for (const [seq, fact] of this.#run.facts.entries()) this.#take(fact, seq)
    return this.#wrong
  }

  #note(id: string, what: string, seq: number): void {
    this.#wrong.push(
      `${id}: ${this.#run.id} (${this.#run.stream.handler}) ${what}, fact ${seq} ${this.#run.facts[seq]?.type}`,
    )
  }

  #take(fact: RunFact, seq: number): void {
    if (this.#isOver && fact.type !== 'step.late_result' && fact.type !== 'run.retried')
      this.#note('V5', 'goes on after its end', seq)
    if (this.#isCancelled && BEGINNINGS.has(fact.type)) this.#note('V8', 'begins something after its cancel', seq)
    if (ENDS.has(fact.type)) this.#isOver = true
    if (fact.type === 'run.cancel_requested') this.#isCancelled = true
    if (fact.type === 'run.retried') this.#reopen(fact.anew ?? [])
    if (fact.type === 'run.retry_scheduled') this.#retryAt = fact.wakeAt
    if (fact.type === 'run.retry_due') {
      if (this.#retryAt === null || fact.at < this.#retryAt) this.#note('V24', 'is tried again before its time', seq)
      this.#retryAt = null
    }
    if ('step' in fact) this.#takeStep(fact, seq)
  }

  /** `anew`: waits whose timeout failed the run. */
  #reopen(anew: readonly string[]): void {
    this.#isOver = false
    this.#isCancelled = false
    this.#retryAt = null
    for (const { type, step } of this.#run.facts.flatMap((fact) => ('step' in fact ? [fact] : []))) {
      const isAnew = type === 'wait.timed_out' && anew.includes(step)
      if (isAnew || type === 'step.failed' || type === 'child.ended' || type === 'step.resolved')
        this.#settled.delete(step)
      this.#attempts.delete(step)
    }
  }

  #takeStep(fact: Extract<RunFact, { readonly step: string }>, seq: number): void {
    const { step } = fact
    if (this.#settled.has(step) && fact.type !== 'step.late_result') this.#note('V7', `settles ${step} twice`, seq)
    if (SETTLINGS.has(fact.type)) this.#settled.add(step)
    if (fact.type === 'step.resolved') this.#takeWord(fact)
    if (fact.type === 'timer.set') this.#due.set(step, fact.wakeAt)
    if (fact.type === 'wait.opened' && fact.wait.timeoutAt !== null) this.#due.set(step, fact.wait.timeoutAt)
    if (
      (fact.type === 'timer.fired' || fact.type === 'wait.timed_out' || fact.type === 'step.retry_due') &&
      fact.at < (this.#due.get(step) ?? Infinity)
    ) {
      this.#note('V24', `lets ${step} go on before its time`, seq)
    }
    if (fact.type === 'step.intended') {
      if (this.#intended.has(step)) this.#note('V10', `intends ${step} again without a word`, seq)
      this.#intended.add(step)
    }
    if (fact.type === 'step.retry_scheduled' || fact.type === 'step.failed') this.#takeFailure(fact, seq)
  }

  #takeWord(fact: Extract<RunFact, { readonly type: 'step.resolved' }>): void {
    this.#intended.delete(fact.step)
    if (fact.verdict !== 'run_again') this.#settled.add(fact.step)
  }

  #takeFailure(fact: Extract<RunFact, { readonly type: 'step.retry_scheduled' | 'step.failed' }>, seq: number): void {
    const before = this.#attempts.get(fact.step) ?? 0
    this.#intended.delete(fact.step)
    if (fact.attempt !== before + 1)
      this.#note('V9', `counts attempt ${fact.attempt} of ${fact.step} after ${before}`, seq)
    if (fact.attempt > MAX_ATTEMPTS) this.#note('V9', `tries ${fact.step} ${fact.attempt} times`, seq)
    if (fact.type === 'step.retry_scheduled') this.#due.set(fact.step, fact.wakeAt)
    this.#attempts.set(fact.step, fact.attempt)
  }
}
