/**
 * A rerun: which results of the old run are reused in the new one, and which steps are executed again.
 *
 * Owns that choice, from the old run's facts alone. The facts are only read: the new run begins with the reused results (run.ts).
 *
 * rerun-1  A result is reused if and only if it was recorded before the first repeated step had one. So no reused result can depend on a step that
 *          is executed again.
 * rerun-2  With a changed input no decision of people is reused, nor any result that settled after the first of their decisions.
 * rerun-3  A decision on a repeated step can be reused only if its question was asked before the first repeated step began, and with the same
 *          input.
 */
import { type ChildId, isTaskId, type RunId } from '#model/kernel/ids.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { LiveRun, ReusedStep, RunFact, RunState } from './fact.ts'
import { run as runMachine } from './run.ts'

/** A step that is executed again if the new run reaches it. */
export interface AgainStep {
  readonly step: string
  /** Its effect is `once`: the new run performs it once more. */
  readonly once: boolean
  /** It asks people. */
  readonly asks: boolean
  /** `reuse_decisions` takes over people's answers: no repeated step began before their question. */
  readonly reusable: boolean
}

export interface RerunPlan {
  readonly kind: 'planned'
  readonly reused: readonly ReusedStep[]
  /** In the order in which the old run reached them. */
  readonly again: readonly AgainStep[]
  /** Those of `reused` whose results came from people's decisions. */
  readonly decided: readonly string[]
}

export interface RerunChoice {
  /** The address of the first step that is executed again; null: all are. */
  readonly from: string | null
  /** The new run has a different input. */
  readonly isChanged: boolean
  /** Steps whose results came from people, directly or in runs that they called. */
  readonly decided: ReadonlySet<string>
}

export interface OldRun {
  readonly id: RunId
  readonly facts: readonly RunFact[]
  /** A worker executes a step of it now. */
  readonly isAtWork: boolean
}

interface Seen {
  once: boolean
  child: ChildId | null
  /** The first fact that names it. */
  readonly begunAt: number
  /** The fact with which it settled; null: it is open, or was opened again. */
  settledAt: number | null
}

const liveOf = (state: RunState): LiveRun | null =>
  state.kind === 'live' ? state : state.kind === 'ended' ? state.last : null

const look = (old: OldRun): { readonly steps: ReadonlyMap<string, Seen>; readonly live: LiveRun | null } => {
  const steps = new Map<string, Seen>()
  let state = runMachine.initial
  for (const [seq, fact] of old.facts.entries()) {
    state = runMachine.evolve(state, fact)
    const live = liveOf(state)
    if ('step' in fact) {
      const seen = steps.get(fact.step) ?? { once: false, child: null, begunAt: seq, settledAt: null }
      steps.set(fact.step, seen)
      if (fact.type === 'step.intended') seen.once = true
      if (fact.type === 'child.started') seen.child = fact.child
      if (live?.settled.has(fact.step) === true) seen.settledAt ??= seq
    } else if (fact.type === 'run.retried') {
      for (const [step, seen] of steps) if (live?.settled.has(step) !== true) seen.settledAt = null
    }
  }
  return { steps, live: liveOf(state) }
}

const hasTold = (fact: RunFact | undefined): boolean =>
  fact?.type === 'step.completed' ? (fact.events ?? []).length > 0 : fact?.type === 'step.reused' && fact.told === true

const notReached = ({ id }: OldRun, from: string, steps: readonly string[]): Refusal => {
  const near = nearest(from, steps)
  const meant = near === null ? '' : `; did you mean ${near}?`
  return refuse('STEP_NOT_REACHED', `${id} has not reached a step ${JSON.stringify(from)}${meant}`)
}

/** rerun-2: nothing is reused from the first reusable decision on. */
const firstDecision = (steps: ReadonlyMap<string, Seen>, decided: ReadonlySet<string>): number =>
  [...decided].reduce((least, step) => Math.min(least, steps.get(step)?.settledAt ?? least), Number.POSITIVE_INFINITY)

/** rerun-3. */
const isReusable = (seen: Seen, first: Seen | undefined, { isChanged }: RerunChoice): boolean =>
  !isChanged && seen.settledAt !== null && first !== undefined && seen.begunAt < first.begunAt

/** True if the run reached the step before it reached the other. */
export const cameBefore = (facts: readonly RunFact[], step: string, other: string): boolean => {
  const first = (name: string): number => facts.findIndex((fact) => 'step' in fact && fact.step === name)
  return first(step) !== -1 && first(step) < first(other)
}

export const planRerun = (old: OldRun, choice: RerunChoice): RerunPlan | Refusal => {
  const { from, isChanged, decided } = choice
  if (old.isAtWork) return refuse('RUN_AT_WORK', `a step of ${old.id} is running`)
  const { steps, live } = look(old)
  if (live === null) return refuse('NOT_FOUND', `there is no run ${old.id}`)
  const first = from === null ? undefined : steps.get(from)
  if (from !== null && first === undefined) return notReached(old, from, [...steps.keys()])
  const chosen = first === undefined ? 0 : (first.settledAt ?? Number.POSITIVE_INFINITY)
  const until = isChanged ? Math.min(chosen, firstDecision(steps, decided)) : chosen
  const reused: ReusedStep[] = []
  const again: AgainStep[] = []
  for (const [step, seen] of steps) {
    const { once, child, settledAt } = seen
    const settled = live.settled.get(step)
    const asks = child !== null && isTaskId(child)
    // rerun-1
    if (settled === undefined || settledAt === null || settledAt >= until)
      again.push({ step, once, asks, reusable: asks && isReusable(seen, first, choice) })
    else
      reused.push({ step, of: old.id, seq: settledAt, settled, ...(hasTold(old.facts[settledAt]) && { told: true }) })
  }
  return { kind: 'planned', reused, again, decided: reused.map(({ step }) => step).filter((step) => decided.has(step)) }
}
