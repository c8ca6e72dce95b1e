/** Plans on the wire. Owns their JSON form; the texts about a plan come from the planner. */
import type { Plan, PlanStep, PlanSummary } from '#http/openapi/api.ts'
import type { ChatPlan } from '#model/chat/chat.ts'
import { ERRORS } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import { approvalOf, type PlanDraft, planStatus } from '#model/plan/draft.ts'
import { type ShownStep, stepMembers } from '#model/plan/shown.ts'
import type { RunSummary } from '#ports/reader.ts'
import { isoTime } from './time.ts'

export const planSummary = (plan: PlanDraft): PlanSummary => ({
  id: plan.id,
  status: planStatus(plan),
  goal: plan.current.goal,
  goal_by: plan.current.goalBy ?? 'person',
  revision: plan.revision,
  hash: plan.current.hash,
  created_at: isoTime(plan.createdAt),
  created_by: plan.createdBy,
  changed_at: isoTime(plan.changedAt),
})

const UNKNOWN = {
  namedBy: 'person',
  operation: '',
  inputs: [],
  inputFrom: null,
  effect: null,
  may: null,
  maxCost: null,
  rules: [],
} as const

/** Plans of older versions lack some members and are shown with defaults: they cannot be approved any more. */
const planSteps = (lines: readonly ShownStep[]): PlanStep[] =>
  lines.map((line) => stepMembers({ ...UNKNOWN, ...(line as Partial<ShownStep>) } as ShownStep) as PlanStep)

export const planDocument = (plan: PlanDraft, runs: readonly RunSummary[]): Plan => {
  const { text, isText, steps, lines, worksOn = null, problems } = plan.current
  const approval = approvalOf(plan)
  return {
    ...planSummary(plan),
    version: plan.version,
    text,
    source: isText ? null : toJson(steps),
    steps: planSteps(lines),
    input: worksOn,
    errors: problems.map((problem) => ({ ...problem, hint: ERRORS[problem.code].hint })),
    approval: approval === null ? null : { ...approval, at: isoTime(approval.at) },
    runs: runs.map(({ id, status, createdAt }) => ({ id, status, created_at: isoTime(createdAt) })),
  }
}

/** A plan as a card in a chat. `status`: the state of its execution. */
export const planCard = (
  { id, goal, goalBy = 'person', hash, input = null, steps, problems }: ChatPlan,
  status: string,
  run: string | null,
): { readonly [name: string]: Json } => ({
  plan_id: id,
  goal,
  goal_by: goalBy,
  hash,
  input,
  steps: toJson(planSteps(steps)),
  errors: toJson(problems),
  status,
  run_id: run,
  url: id === null ? null : `/plans/${id}`,
})
