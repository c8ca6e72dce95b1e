/**
 * What a caller asks of one run beside its input: how long it may take, how careful it is, with what its agent works.
 *
 * Recorded with the start of the run, so that it holds in every life of it, whatever is deployed meanwhile. Pure.
 *
 * call-terms-1  A caller makes a run more careful, never less: what its handler does once is done once, whoever calls.
 */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Effect } from '#model/run/step.ts'
import type { AgentSpec } from './agent.ts'

export interface CallTerms {
  /** It is ended so long after its birth, if its handler says no less. */
  readonly withinMs?: number
  readonly effect?: Exclude<Effect, 'idempotent'>
  /** Its caller is told that it has ended `partial`, and decides what that means. Absent: a partial end counts as success. */
  readonly tellsPartial?: true
  /** In the place of what the agent is defined with. */
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

/** What a caller that is told of partial ends gets instead of the output. */
export const partialEnd = (output: Json): Json => ({ [PARTIAL]: output })

/** Null: the run has ended whole. */
export const partialIn = (answer: Json): { readonly output: Json } | null =>
  isJsonRecord(answer) && Object.hasOwn(answer, PARTIAL) ? { output: answer[PARTIAL] ?? null } : null
