/**
 * A plan in a turn of a chat: kept as a draft, shown, approved by its hash, and run as any drafted plan is.
 *
 * Owns that order; each part is a step of the turn. What has errors is told and not asked about.
 */

import type { FunctionContext } from '#executors/workflow/function.ts'
import { isStepFailure } from '#executors/workflow/step-failure.ts'
import type { ChatDecision, ChatPart, ChatPlan } from '#model/chat/chat.ts'
import { planId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { PLAN_RUN, type PlanDraft, type PlanOrder } from '#model/plan/draft.ts'
import type { PlanService } from '#ports/plan-service.ts'
import type { AskReply } from '#ports/step-gate.ts'
import { denied, failed, isYes, noOf, performed } from './parts.ts'

interface PlanTurn {
  readonly context: Pick<FunctionContext, 'run' | 'step'>
  readonly planService: PlanService
  /** Who proposes it. */
  readonly by: string
  approve(plan: ChatPlan): Promise<AskReply>
}

const asShown = ({ id, current }: PlanDraft): ChatPlan => {
  const { goal, goalBy, hash, worksOn = {}, lines, problems } = current
  return { id, goal, goalBy, hash, input: worksOn, steps: lines, problems }
}

/** The input is proposed with the steps, also if there is none: the people who approve the one approve the other. */
const proposalOf = (task: Json): Json => (isJsonRecord(task) ? { ...task, input: task['input'] ?? {} } : task)

const problemsOf = ({ problems }: ChatPlan): string =>
  problems.map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`)).join('; ')

/** Recorded as it was shown, and read back so: the system may be another one by the time it is approved. */
export const shownPlan = async ({ step }: Pick<FunctionContext, 'step'>, plan: ChatPlan): Promise<ChatPlan> =>
  (await step.run('plan', () => plan as unknown as Json)) as unknown as ChatPlan

export const planAnswer = async (decision: ChatDecision, turn: PlanTurn): Promise<readonly ChatPart[]> => {
  const { run, step } = turn.context
  const asked = { executor: decision.executor ?? '', input: decision.task }
  const id = planId(run.id.slice('run_'.length))
  try {
    const plan = (await step.run('plan', async () =>
      asShown(await turn.planService.propose(run.tenant, id, proposalOf(decision.task), turn.by)),
    )) as unknown as ChatPlan
    const shown: ChatPart = { type: 'plan', plan }
    if (plan.problems.length > 0) return [shown, failed(asked, problemsOf(plan))]
    const reply = await turn.approve(plan)
    if (!isYes(reply)) return [shown, denied(asked, noOf(reply))]
    const word = { hash: plan.hash, by: reply.decidedBy ?? '' }
    const order = await step.run('agree', () => turn.planService.agree(run.tenant, id, word))
    return [shown, ...(await performed(asked, () => step.invoke('execute', PLAN_RUN, order as unknown as PlanOrder)))]
  } catch (error) {
    if (!isStepFailure(error)) throw error
    return [failed(asked, `${error.code}: ${error.message}`)]
  }
}
