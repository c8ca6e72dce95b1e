/**
 * The steps of a run, to show them while it goes on: which have settled and with what, and which are open and what they wait for.
 *
 * Owns the reading. Uses the same rules that drive the run, and fetches values that were too large for a fact.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { ChildId, RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { RunFact } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { SettledStep } from '#model/run/step.ts'

export interface StepView {
  readonly state: 'open' | 'done' | 'failed'
  /** The run or the task that performs the step, if one does. */
  readonly child: ChildId | null
  readonly value: Json
  readonly error: Failure | null
}

export interface RunSteps {
  readonly status: RunStatus
  readonly error: Failure | null
  readonly steps: ReadonlyMap<string, StepView>
}

type Deps = Pick<EngineContext, 'ledger' | 'blobs' | 'ids' | 'tenant'>

const childrenOf = (facts: readonly RunFact[]): ReadonlyMap<string, ChildId> =>
  new Map(facts.flatMap((fact) => (fact.type === 'child.started' ? [[fact.step, fact.child] as const] : [])))

const settledView = async (deps: Deps, settled: SettledStep, child: ChildId | null): Promise<StepView> => {
  if (settled.kind === 'failed') return { state: 'failed', child, value: null, error: settled.error }
  const value = settled.kind === 'done' ? await fetchValue(deps, settled.result) : null
  return { state: 'done', child, value, error: null }
}

export const stepsOf = async (deps: Deps, run: RunId): Promise<RunSteps | null> => {
  const [record] = await deps.ledger.load([run])
  if (record == null || record.tenant !== deps.tenant) return null
  const facts = record.facts.map(readRunFact)
  const state = fold(runMachine, facts)
  if (state.kind === 'none') return null
  const live = state.kind === 'ended' ? state.last : state
  const children = childrenOf(facts)
  const steps = new Map<string, StepView>()
  for (const [step] of live.open.entries())
    steps.set(step, { state: 'open', child: children.get(step) ?? null, value: null, error: null })
  for (const [step, settled] of live.settled.entries())
    steps.set(step, await settledView(deps, settled, children.get(step) ?? null))
  return { status: record.status, error: state.kind === 'ended' ? state.error : null, steps }
}
