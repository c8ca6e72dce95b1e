/** Plans as the wire spells them, described. */
import { PLAN_STATUSES } from '../../model/plan-draft.ts'
import { anything, closed, described, instant, list, orNull, record, ref, text, whole, words } from '../schema.ts'

const HANDS = ['agent', 'human', 'workflow'] as const

const summary = {
  id: text,
  status: words(PLAN_STATUSES),
  goal: text,
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
    requires: list(text),
    by: described('the handler, or people, wait, nobody', text),
    hand: orNull(words(HANDS)),
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
  },
)

export const APPROVE_PLAN = closed({ hash: described('of the revision that was looked at', text) })

export const RUN_PLAN = closed({}, { input: anything })
