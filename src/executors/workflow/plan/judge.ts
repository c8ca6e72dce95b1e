/** Decides whether the answer of an agent or a function counts as the output of its step, or goes to a person or another handler. */
import type { LifecycleOptions, Step, StepOptions } from '#executors/workflow/step-api.ts'
import { confidenceOf, escalationOf } from '#model/flow/policies/escalation.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { takesOver } from '#model/plan/shown.ts'
import { Refusal } from './refusal.ts'
import { keyed, type Turn } from './turn.ts'

interface Judging {
  readonly input: Json
  readonly step: Pick<Step, 'invoke' | 'human'>
}

/** The answer, or that of the person or handler to whom a rule gives it. If the check cannot be evaluated, a person decides. */
export const reviewedAnswer = async (context: Judging, { step, key }: Turn, output: Json): Promise<Json> => {
  const { id, name, escalation } = step
  if (escalation.length === 0) return output
  const confidence = confidenceOf(isJsonRecord(output) ? output['confidence'] : undefined, 1)
  const agent = { output, status: 'success', ...(confidence === null ? {} : { confidence }) }
  const answers = escalation.map(({ rule }) => rule({ agent, output, payload: context.input }))
  const found = escalationOf(escalation, answers, confidence)
  if (found === null) return output
  const told = { rule: escalation[found.rule]?.condition ?? null, reason: found.reason, to: found.to }
  const at: StepOptions & LifecycleOptions = {
    ...keyed(key, 'escalated'),
    reports: { type: 'agent.escalated', data: told },
  }
  const deadline = escalation[found.rule]?.deadline
  const question = { step: id, reason: found.reason, output }
  const handler = takesOver(found.to)
  if (handler !== null) return context.step.invoke(id, handler, question, at)
  const reply = await context.step.human(
    id,
    {
      taskType: 'review',
      title: `${name}: not sure`,
      instructions: found.reason,
      ...(found.to === 'human' ? {} : { assign: found.to }),
      ...(deadline === undefined ? {} : { deadline, autoActionOnTimeout: 'expire' }),
      bundle: { sections: [{ id: 'output', type: 'editable', title: 'Answer', content: output }] },
      actions: ['approve', 'edit', 'reject', 'reassign'],
    },
    at,
  )
  if (reply.status !== 'approved') throw new Refusal(step, reply)
  return reply.modifications?.['output'] ?? output
}
