/** Schemas of the outcome of each modality's work on the wire (model/run/outcome.ts). */
import { anything, described, instant, list, orNull, record, ref, text, whole } from '#http/openapi/schema.ts'

const durationMs = described('from the start of the run to its end, waiting included', whole)

export const HUMAN_OUTCOME = {
  decision: described('the action that was taken; expired or withdrawn if none was', text),
  modifications: described('what was edited, by section or item; null: nothing', anything),
  feedback: described('the reason or comment', orNull(text)),
  decided_by: orNull(text),
  decided_at: instant,
}

export const outcomeComponents = {
  HumanOutcome: record(HUMAN_OUTCOME),
  AgentOutcome: record({
    structured_output: anything,
    artifacts: described('files that it left; the hash leads to the content', list(record({ path: text, hash: text }))),
    token_usage: record({ input_tokens: whole, output_tokens: whole }),
    duration_ms: durationMs,
  }),
  WorkflowOutcome: record({
    result: anything,
    emitted_events: described('ids of the events that were sent with the result', list(text)),
    db_writes: described('rows that were written with the result', list(record({ table: text, key: text }))),
    duration_ms: durationMs,
  }),
  Outcome: { anyOf: [ref('HumanOutcome'), ref('AgentOutcome'), ref('WorkflowOutcome')] },
}
