/** A step of a plan that did not succeed: people refused it, did not answer, or allowed it to be skipped. */
import { taskOutput } from '#executors/task-output.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { refusalText, refusedAt, type StepEnd, skippedFor } from '#model/plan/end.ts'
import type { PlanStep } from '#model/plan/plan.ts'
import type { AskReply } from '#ports/step-port.ts'

export interface Ended extends StepEnd {
  readonly output: Json
}

/** A person's "no" in the middle of a step: it ends the step, never the plan (plan-2). */
export class Refusal extends Error {
  readonly ended: Ended

  constructor(step: PlanStep, reply: AskReply) {
    const { decision, decidedBy: by, feedback } = reply
    const reason = refusalText({ name: step.name, decision, by, feedback })
    super(reason)
    this.ended = { ...refusedAt(step.id, reason), output: taskOutput(reply) }
  }
}

export const asksPeople = ({ work }: PlanStep): boolean =>
  work.kind === 'ask' || (work.kind === 'call' && work.hand === 'human')

/** Skipped after it failed. A question that people did not answer counts as not approved (plan-4). */
export const leftOut = (step: PlanStep, why: string): Ended =>
  asksPeople(step)
    ? { ...refusedAt(step.id, `"${step.name}" ended without a decision: ${why}`), output: null }
    : { ...skippedFor(why), output: null }

/** A question that was withdrawn: with its task, or with the run that asked it. */
export const WITHDRAWN: readonly string[] = [
  'TASK_WITHDRAWN',
  'RUN_CANCELLED',
  'RUN_DEADLINE',
] satisfies readonly ErrorCode[]
