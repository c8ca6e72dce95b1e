/**
 * What a caller demands of one run besides its input: how long it may take, its effect, and with what its agent works.
 *
 * Recorded with the start of the run, so that it holds in every life of the run, whatever is deployed meanwhile. Pure.
 *
 * call-terms-1  A caller makes a run more careful, never less: what its handler does once is done once, whatever the caller demands.
 */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Effect } from '#model/run/step.ts'
import type { AgentSpec } from './agent.ts'

export interface CallTerms {
  /** The run is ended this long after it began, unless its handler's own limit is shorter. */
  readonly withinMs?: number
  readonly effect?: Exclude<Effect, 'idempotent'>
  /** Its caller is notified of a `partial` end, and decides what that means. Absent: a partial end counts as success. */
  readonly tellsPartial?: true
  /** Replaces members of the agent's definition. */
  readonly agent?: Partial<Pick<AgentSpec, 'model' | 'instructions' | 'prompt' | 'output'>>
}

/** call-terms-1 */
export const effectUnder = (own: Effect, terms: CallTerms | undefined): Effect =>
  own === 'idempotent' ? (terms?.effect ?? own) : own

/** The instant that ends a run: that of its handler or that of its caller, whichever comes first. */
export const deadlineUnder = (own: number | null, terms: CallTerms | undefined, now: number): number | null => {
  if (terms?.withinMs === undefined) return own
  const asked = now + terms.withinMs
  return own === null ? asked : Math.min(own, asked)
}

const PARTIAL = '$partial'

/** What a caller with `tellsPartial` receives instead of the output. */
export const partialEnd = (output: Json): Json => ({ [PARTIAL]: output })

/** Null: the end was not partial. */
export const partialIn = (answer: Json): { readonly output: Json } | null =>
  isJsonRecord(answer) && Object.hasOwn(answer, PARTIAL) ? { output: answer[PARTIAL] ?? null } : null
