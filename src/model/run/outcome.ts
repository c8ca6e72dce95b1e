/**
 * The outcome of each modality: one spelling of its members for events, run outputs, HTTP and TypeScript.
 *
 * Owns the names, which come from the specification (execution-modality.md), and their translation to the wire: the same names in snake case,
 * instants as text. A run's `output` stays what its code, its model or its people answered; the outcome is what surrounds it.
 *
 * outcome-1  An outcome has exactly the members of its modality, in every interface.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { isoTime } from '#model/kernel/iso-time.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'

export interface HumanOutcome {
  /** The action that was taken; `expired` or `withdrawn` if none was. */
  readonly decision: string
  readonly modifications: Json
  readonly feedback: string | null
  readonly decidedBy: string | null
  readonly decidedAt: Instant
}

/** A file that an agent has produced; `GET /api/artifacts/{hash}` returns its content. */
export interface LeftFile {
  readonly path: string
  readonly hash: string
}

export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface AgentOutcome {
  readonly structuredOutput: Json
  readonly artifacts: readonly LeftFile[]
  readonly tokenUsage: TokenUsage
  readonly durationMs: number
}

/** A row that was written with a result. */
export interface DbWrite {
  readonly table: string
  readonly key: string
}

export interface WorkflowOutcome {
  readonly result: Json
  /** Ids of the events that were sent with the result. */
  readonly emittedEvents: readonly string[]
  readonly dbWrites: readonly DbWrite[]
  readonly durationMs: number
}

export type Outcome = HumanOutcome | AgentOutcome | WorkflowOutcome

type Members = { readonly [name: string]: Json }

export const humanOutcomeMembers = ({ decision, modifications, feedback, decidedBy, decidedAt }: HumanOutcome) => ({
  ...{ decision, modifications, feedback },
  decided_by: decidedBy,
  decided_at: isoTime(decidedAt),
})

export const tokenUsageMembers = ({ inputTokens, outputTokens }: TokenUsage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
})

const agentWords = ({ structuredOutput, artifacts, tokenUsage, durationMs }: AgentOutcome) => ({
  structured_output: structuredOutput,
  artifacts: artifacts.map(({ path, hash }) => ({ path, hash })),
  token_usage: tokenUsageMembers(tokenUsage),
  duration_ms: durationMs,
})

const workflowWords = ({ result, emittedEvents, dbWrites, durationMs }: WorkflowOutcome) => ({
  result,
  emitted_events: [...emittedEvents],
  db_writes: dbWrites.map(({ table, key }) => ({ table, key })),
  duration_ms: durationMs,
})

/** The outcome as it is sent on the wire. */
export const outcomeMembers = (outcome: Outcome): Members => {
  if ('decision' in outcome) return humanOutcomeMembers(outcome)
  return 'structuredOutput' in outcome ? agentWords(outcome) : workflowWords(outcome)
}

const textOr = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

/** The outcome in the output of a human's run, which has these members among others; null: it has not. */
export const humanOutcomeIn = (output: Json, at: Instant): HumanOutcome | null => {
  if (!isJsonRecord(output) || typeof output['decision'] !== 'string') return null
  const { decision, modifications = null, feedback, decided_by, decided_at } = output
  // biome-ignore lint/style/noRestrictedGlobals: reads an instant that was written, and asks no clock
  const decidedAt = typeof decided_at === 'string' ? Date.parse(decided_at) : at
  return { decision, modifications, feedback: textOr(feedback), decidedBy: textOr(decided_by), decidedAt }
}
