/** Schemas of plans on the wire. */
import {
  anything,
  closed,
  described,
  instant,
  list,
  number,
  orNull,
  record,
  ref,
  text,
  whole,
  words,
} from '#http/openapi/schema.ts'
import { PLAN_STATUSES } from '#model/plan/draft.ts'

const HANDS = ['agent', 'human', 'workflow'] as const
const AUTHORS = ['model', 'person'] as const
const EFFECTS = ['idempotent', 'once', 'transactional'] as const

const summary = {
  id: text,
  status: words(PLAN_STATUSES),
  goal: text,
  goal_by: described('who chose these words', words(AUTHORS)),
  revision: whole,
  hash: described('names this revision: an approval is of exactly it', text),
  created_at: instant,
  created_by: text,
  changed_at: instant,
}

export const planComponents = {
  PlanStep: record({
    id: text,
    name: text,
    named_by: described('who chose the name: what a model chose says nothing of what is done', words(AUTHORS)),
    requires: list(text),
    by: described('the handler, or people, wait, nobody', text),
    hand: orNull(words(HANDS)),
    operation: described('what is done, in words', text),
    inputs: list(
      record({
        path: described('such as to or mail.lines[0]', text),
        value: described('as it was written', anything),
        from: described('where its references come from; empty: it is literal', list(text)),
      }),
    ),
    input_from: described('where the input comes from if none was written', orNull(text)),
    effect: orNull(words(EFFECTS)),
    may: described('tools of an agent, operations of a function; null: it is not limited', orNull(list(text))),
    cost_limit_usd: described('what models may cost in one run; null: no limit is set', orNull(number)),
    rules: described('conditions, repetitions, waits, what follows a failure or a no', list(text)),
  }),
  PlanError: record({
    code: text,
    line: described('of the text; null: it was not written as text', orNull(whole)),
    step: orNull(text),
    message: text,
    hint: text,
  }),
  PlanSummary: record(summary),
  Plan: record({
    ...summary,
    version: whole,
    text: described('as people read it', text),
    source: described('the steps in full, where the text does not say it all', orNull(anything)),
    steps: list(ref('PlanStep')),
    input: described('what every run works on, approved with the steps; null: each run is given its own', anything),
    errors: list(ref('PlanError')),
    approval: orNull(record({ by: text, at: instant, hash: text, revision: whole })),
    runs: described('the last ones, newest first', list(record({ id: text, status: text, created_at: instant }))),
  }),
  PlanRun: record({ id: text, plan_id: text, hash: text }),
}

export const WRITE_PLAN = closed(
  {},
  {
    text: described('a line for each step: `c. Send emails (requires steps a and b)`', text),
    steps: described('steps with the keys of a manifest', list(anything)),
    english: described('a sentence that a declared plan says it is for, or the text of a plan', text),
    goal: text,
    input: described('what every run works on, approved with the steps; null: each run is given its own', anything),
  },
)

export const APPROVE_PLAN = closed({ hash: described('of the revision that was looked at', text) })

export const RUN_PLAN = closed({}, { input: anything })
