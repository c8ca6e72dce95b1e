/**
 * Lifecycle events: what each modality reports of its work, with types under its own prefix.
 *
 * Owns the names, and which fact of a run produces which event. Pure. Events about people's work come from tasks (engine/tasks/events.ts); the
 * system knows which handlers listen.
 *
 * lifecycle-1  A fact produces at most one event, and every event is produced by a fact.
 */
import type { Failure } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { LiveRun, RunFact, RunState } from '#model/run/fact.ts'
import { outcomeMembers } from '#model/run/outcome.ts'

export const LIFECYCLE: Readonly<Record<Modality, readonly string[]>> = {
  agent: ['agent.started', 'agent.completed', 'agent.failed', 'agent.escalated'],
  human: [
    ...['human.assigned', 'human.viewed', 'human.decided', 'human.timed_out'],
    ...['human.reminded', 'human.withdrawn'],
  ],
  workflow: ['workflow.started', 'workflow.completed', 'workflow.failed', 'workflow.retrying'],
}

const MODALITIES = Object.keys(LIFECYCLE) as readonly Modality[]

/** The modality whose work events of this type report, by their prefix; null: none. */
export const reportedModality = (type: string): Modality | null =>
  MODALITIES.find((modality) => type.startsWith(`${modality}.`)) ?? null

/** True if events of this type report the work itself. */
export const isLifecycleType = (type: string): boolean =>
  reportedModality(type) !== null || type.startsWith('trihand.run.')

/** Human events are rare and always emitted. The rest would double the cost of every step, so they are emitted only if a handler listens. */
export const isEmittedIfListened = (type: string): boolean =>
  isLifecycleType(type) && reportedModality(type) !== 'human'

/** The source of the events that a handler reports of its own work. */
export const lifecycleSource = (modality: Modality, handler: string): string => `${modality}:${handler}`

type Members = { readonly [name: string]: Json }

/** An event without its place in the run; the rest is the same for all events. */
export interface LifecycleReport {
  readonly type: string
  readonly data: Members
}

/** An event with its place in the run. */
export interface StepLifecycleReport extends LifecycleReport {
  /** Null: it is about the run as a whole. */
  readonly step: string | null
  readonly attempt: number
}

/** An event that belongs to the fact with this index in an append. */
export interface FactLifecycleReport extends StepLifecycleReport {
  readonly index: number
}

const errorOf = ({ code, message }: Failure): Members => ({ error: { code, message } })

const NO_TOKENS = { inputTokens: 0, outputTokens: 0 }

/** A large output is not copied: the event names the run. */
const outputOf = (output: Payload): Json => ('value' in output ? output.value : null)

const failed = (type: string, status: string, error: Failure, attempt: number): StepLifecycleReport => ({
  type,
  step: null,
  attempt,
  data: { status, ...errorOf(error) },
})

const retrying = (
  step: string | null,
  fact: Extract<RunFact, { readonly wakeAt: number; readonly error: Failure }>,
) => ({
  type: 'workflow.retrying',
  step,
  attempt: fact.attempt,
  data: { ...errorOf(fact.error), next_at: fact.wakeAt },
})

/** The run, or the last life of an ended run. */
const lifeOf = (state: RunState): LiveRun | null => {
  if (state.kind === 'none') return null
  return state.kind === 'live' ? state : state.last
}

const attemptOf = (state: RunState): number => (lifeOf(state)?.failures ?? 0) + 1

/** The event that a fact of a run produces; null: none. `state` is the run's state after the fact. */
export const lifecycleReportOf = (modality: Modality, fact: RunFact, state: RunState): StepLifecycleReport | null => {
  if (modality === 'human') return null
  const attempt = attemptOf(state)
  switch (fact.type) {
    case 'run.completed': {
      const { status, output, events = [], writes = [], at } = fact
      const durationMs = at - (lifeOf(state)?.startedAt ?? at)
      const result = outputOf(output)
      // The other members of an agent's outcome come from the agent's own report.
      const agent = { structuredOutput: result, artifacts: [], tokenUsage: NO_TOKENS, durationMs }
      const workflow = { result, emittedEvents: events, dbWrites: writes, durationMs }
      const data = { status, ...outcomeMembers(modality === 'agent' ? agent : workflow) }
      return { type: `${modality}.completed`, step: null, attempt, data }
    }
    case 'run.failed':
    case 'run.expired':
    case 'run.quarantined':
      return failed(`${modality}.failed`, fact.type.slice('run.'.length), fact.error, attempt)
    case 'run.retry_scheduled':
      return modality === 'workflow' ? retrying(null, fact) : null
    case 'step.retry_scheduled':
      return modality === 'workflow' ? retrying(fact.step, fact) : null
    default:
      return null
  }
}

/** The events that an executor reports itself, attached to the fact at this index. If the fact opens a step, they are about that step. */
export const reportsWithFact = (
  tellings: readonly LifecycleReport[],
  fact: RunFact | undefined,
  index: number,
  state: RunState,
): readonly FactLifecycleReport[] => {
  const step = fact?.type === 'child.started' ? fact.step : null
  return tellings.map((telling) => ({ ...telling, step, attempt: attemptOf(state), index }))
}
