/**
 * The callbacks that wait for steps of a run in memory: promises given to the handler, and attempts that wait for their delay.
 *
 * Owns the callbacks. Never decides whether a step has settled: it receives the facts that the ledger has.
 */
import { SmallMap } from '#engine/hot/small-map.ts'
import type { LiveRun, RunFact } from '#model/run/fact.ts'
import type { SettledStep } from '#model/run/step.ts'
import type { StepRequest, TaskRequest } from '#ports/step-port.ts'

type Callback = (settled: SettledStep) => void

/** A person sent the step back while the run was in memory: no other process would perform it. */
const isSentBack = (fact: RunFact): boolean => fact.type === 'step.resolved' && fact.verdict === 'run_again'

const NONE: readonly never[] = []

type Work = StepRequest | TaskRequest

interface Retrier {
  beginAgain(request: Work): void
}

interface Waiter {
  /** The step's name. */
  readonly name: string
  readonly tell: Callback
  /** Further callbacks for the same step. */
  more: Callback[] | null
  /** The request to try again when its delay is over; `retrier` does so. */
  request: Work | null
  retrier: Retrier | null
  /** The step waits for something else before its next attempt. */
  isHeld: boolean
}

const isFree = ({ name, isHeld }: Waiter, state: LiveRun): boolean => {
  const open = state.open.get(name)
  return state.settled.has(name) || (open?.kind === 'retrying' && open.wakeAt === null && !isHeld)
}

export class Waiters {
  private readonly waiting = new SmallMap<Waiter>()

  get isEmpty(): boolean {
    return this.waiting.isEmpty
  }

  isAwaited(step: string): boolean {
    return this.waiting.get(step) !== undefined
  }

  add(step: string, callback: Callback): void {
    const waiter = this.waiting.get(step)
    if (waiter === undefined)
      this.waiting.add({ name: step, tell: callback, more: null, request: null, retrier: null, isHeld: false })
    else if (waiter.more === null) waiter.more = [callback]
    else waiter.more.push(callback)
  }

  /** Has no effect for a step that has no callback. */
  addRetry(request: Work, retrier: Retrier): void {
    const waiter = this.waiting.get(request.step)
    if (waiter === undefined) return
    waiter.request = request
    waiter.retrier = retrier
  }

  /** Sets whether the next attempt of this step waits for something else, so that the run may leave memory meanwhile. */
  hold(step: string, isHeld: boolean): void {
    const waiter = this.waiting.get(step)
    if (waiter !== undefined) waiter.isHeld = isHeld
  }

  /**
   * Whether the handler can continue in this state: with an answer, or a step to be tried again. A step that a person sends back
   * leaves nothing open: only these facts say so, and no other process would perform it if the run left memory with them.
   */
  canGoOn(state: LiveRun, facts: readonly RunFact[]): boolean {
    const { only } = this.waiting
    if (facts.some((fact) => isSentBack(fact) && 'step' in fact && this.isAwaited(fact.step))) return true
    return only === null ? this.waiting.some((waiter) => isFree(waiter, state)) : isFree(only, state)
  }

  /** active-run-2: these facts are in the ledger, and this is the state after them; null if the run has ended with them. */
  deliver(facts: readonly RunFact[], after: LiveRun | null): void {
    if (this.waiting.isEmpty) return
    for (const fact of facts) {
      if (!('step' in fact)) continue
      const waiter = this.waiting.get(fact.step)
      if (waiter === undefined) continue
      const settled = after?.settled.get(fact.step)
      if (settled !== undefined) this.settle(waiter, settled)
      else if (waiter.request !== null && (fact.type === 'step.retry_due' || isSentBack(fact)))
        waiter.retrier?.beginAgain(waiter.request)
    }
  }

  clear(): void {
    this.waiting.clear()
  }

  private settle(waiter: Waiter, settled: SettledStep): void {
    this.waiting.delete(waiter)
    waiter.tell(settled)
    for (const callback of waiter.more ?? NONE) callback(settled)
  }
}
