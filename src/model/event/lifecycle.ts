/**
 * Lifecycle events: what each hand tells of its work, under the words of its modality.
 *
 * Owns the names and which fact of a run tells what. Pure. What people's work tells is a task's (engine/tasks/events.ts); who listens is
 * the system's.
 *
 * lifecycle-1  A fact tells at most one event, and every event is told by a fact.
 */
import type { Failure } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { LiveRun, RunFact, RunState } from '#model/run/fact.ts'
import { outcomeWords } from '#model/run/outcome.ts'

export const LIFECYCLE: Readonly<Record<Modality, readonly string[]>> = {
  agent: ['agent.started', 'agent.completed', 'agent.failed', 'agent.escalated'],
  human: [
    ...['human.assigned', 'human.viewed', 'human.decided', 'human.timed_out'],
    ...['human.reminded', 'human.withdrawn'],
  ],
  workflow: ['workflow.started', 'workflow.completed', 'workflow.failed', 'workflow.retrying'],
}

const MODALITIES = Object.keys(LIFECYCLE) as readonly Modality[]

/** The hand that an event of this type would tell of, by its prefix; null: of none. */
export const handOf = (type: string): Modality | null =>
  MODALITIES.find((modality) => type.startsWith(`${modality}.`)) ?? null

/** Whether events of this type tell of the work itself. */
export const isOfLife = (type: string): boolean => handOf(type) !== null || type.startsWith('trihand.run.')

/** What people do is rare and always told. The rest would double the price of every step, so it is told to whoever listens. */
export const isToldOnDemand = (type: string): boolean => isOfLife(type) && handOf(type) !== 'human'

/** The source of what a handler tells of its own work. */
export const lifeSource = (modality: Modality, handler: string): string => `${modality}:${handler}`

type Members = { readonly [name: string]: Json }

/** What is told, besides where: that is the same for all. */
export interface Telling {
  readonly type: string
  readonly data: Members
}

/** A telling with its address in the run. */
export interface AddressedTelling extends Telling {
  /** Null: the run as a whole. */
  readonly step: string | null
  readonly attempt: number
}

/** One that stands with a fact of an append. */
export interface ToldAt extends AddressedTelling {
  readonly index: number
}

const errorOf = ({ code, message }: Failure): Members => ({ error: { code, message } })

const NO_TOKENS = { inputTokens: 0, outputTokens: 0 }

/** A large output stays where it is: the event names the run. */
const outputOf = (output: Payload): Json => ('value' in output ? output.value : null)

const failed = (type: string, status: string, error: Failure, attempt: number): AddressedTelling => ({
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

/** The run as it lives, or lived. */
const lifeOf = (state: RunState): LiveRun | null => {
  if (state.kind === 'none') return null
  return state.kind === 'live' ? state : state.last
}

const attemptOf = (state: RunState): number => (lifeOf(state)?.failures ?? 0) + 1

/** What a fact of a run tells of the hand at work on it; null: nothing. `state` is the run's after it. */
export const tellingOf = (modality: Modality, fact: RunFact, state: RunState): AddressedTelling | null => {
  if (modality === 'human') return null
  const attempt = attemptOf(state)
  switch (fact.type) {
    case 'run.completed': {
      const { status, output, events = [], writes = [], at } = fact
      const durationMs = at - (lifeOf(state)?.startedAt ?? at)
      const result = outputOf(output)
      // What an agent's end comes to besides is its own report.
      const agent = { structuredOutput: result, artifacts: [], tokenUsage: NO_TOKENS, durationMs }
      const workflow = { result, emittedEvents: events, dbWrites: writes, durationMs }
      const data = { status, ...outcomeWords(modality === 'agent' ? agent : workflow) }
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

/** What a hand tells of its own accord, with the fact at this place. A step that it opens is the step it speaks of. */
export const toldWith = (
  tellings: readonly Telling[],
  fact: RunFact | undefined,
  index: number,
  state: RunState,
): readonly ToldAt[] => {
  const step = fact?.type === 'child.started' ? fact.step : null
  return tellings.map((telling) => ({ ...telling, step, attempt: attemptOf(state), index }))
}
