/** Schemas of the timeline of a run and of its single steps on the wire. */
import { anything, described, instant, list, orNull, record, ref, text, whole, words } from '#http/openapi/schema.ts'
import { STATES } from '#http/wire/marks.ts'

const HANDS = ['agent', 'human', 'workflow'] as const
const ROLES = ['user', 'agent', 'tool'] as const

export const timelineComponents = {
  Mark: record(
    { seq: whole, type: text, at: instant, text: described('the fact in plain words', text) },
    {
      step: described('absent: it is about the run', text),
      becomes: described('what the step, or the run, is from now on; absent: what it was', words(STATES)),
      attempt: whole,
      hand: described('who does it; absent: code of a function', words(HANDS)),
      child: described('the run that was called, or the task that asks people', text),
      until: described('when time alone ends it', instant),
      ms: described('how long its work took, where that was measured', whole),
      code: described('of the error', text),
    },
  ),
  Timeline: record({
    id: text,
    handler: text,
    status: ref('RunStatus'),
    items: list(ref('Mark')),
    next_cursor: described('the place of the next fact; null: these were the last until now', orNull(text)),
  }),
  StepError: record({ code: text, message: text, hint: described('the way out', orNull(text)) }),
  StepPrompt: record({
    system: text,
    tools: list(record({ name: text, description: text })),
    messages: described('without the marks around data', list(record({ role: words(ROLES), content: anything }))),
  }),
  StepTool: record({
    tool: text,
    input: anything,
    step: described('which has performed it; null: none has yet', orNull(text)),
    output: anything,
  }),
  StepDetail: record({
    run: text,
    step: described('null: the run as a whole', orNull(text)),
    input: anything,
    output: anything,
    left_out: described(
      'characters of a value that was too long for a fact, and is not here',
      record({ input: orNull(whole), output: orNull(whole) }),
    ),
    prompt: described('what a model was asked; null: no model was', orNull(ref('StepPrompt'))),
    tools: described('what the model called, and what came of it', list(ref('StepTool'))),
    spent: described('by model', list(ref('CostRow'))),
    notes: described('what is odd about the use of models, in sentences', list(text)),
    error: orNull(ref('StepError')),
  }),
}
