/** The outcome of each modality, in TypeScript and on the wire. */
import { expect, test } from 'vitest'
import { humanOutcomeIn, type Outcome, outcomeMembers } from './outcome.ts'

const human = { decision: 'approve', modifications: null, feedback: null, decidedBy: 'ana', decidedAt: 1_000 }
const OUTCOMES: readonly [Outcome, object][] = [
  [
    human,
    {
      ...{ decision: 'approve', modifications: null, feedback: null },
      ...{ decided_by: 'ana', decided_at: '1970-01-01T00:00:01.000Z' },
    },
  ],
  [
    {
      structuredOutput: { a: 1 },
      artifacts: [{ path: 'a.md', hash: 'h' }],
      tokenUsage: { inputTokens: 3, outputTokens: 4 },
      durationMs: 5,
    },
    {
      structured_output: { a: 1 },
      artifacts: [{ path: 'a.md', hash: 'h' }],
      token_usage: { input_tokens: 3, output_tokens: 4 },
      duration_ms: 5,
    },
  ],
  [
    { result: 7, emittedEvents: ['evt_1'], dbWrites: [{ table: 't', key: 'k' }], durationMs: 5 },
    { result: 7, emitted_events: ['evt_1'], db_writes: [{ table: 't', key: 'k' }], duration_ms: 5 },
  ],
]

test.each(OUTCOMES)('outcome-1: on the wire %j has the same members in snake case, and no others', (outcome, words) =>
  expect(outcomeMembers(outcome)).toEqual(words),
)

test("outcome-1: a human's outcome can be read back from the output of its run; any other output has none", () => {
  expect(humanOutcomeIn({ ...outcomeMembers(human), task_id: 'tsk_1' }, 0)).toEqual(human)
  for (const other of [null, 7, 'approve', [], { decision: 7 }]) expect(humanOutcomeIn(other, 0)).toBeNull()
})
