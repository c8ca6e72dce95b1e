/** What a step of a plan waits for: before it begins, or as its work. */
import { taskOutput } from '#executors/task-output.ts'
import type { Step } from '#executors/workflow/step-api.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { PlanStep, PlanWait } from '#model/plan/plan.ts'
import type { TaskOptions } from '#model/task/source.ts'
import { Refusal } from './refusal.ts'
import { alone, keyed } from './turn.ts'

type Waiting = Pick<Step, 'human' | 'sleep' | 'waitForEvent'>

export const prepared = async (step: Waiting, of: PlanStep, before: PlanWait | 'manual'): Promise<void> => {
  const { id, name } = of
  if (before === 'manual') {
    const reply = await step.human(id, { taskType: 'approval', title: `Begin: ${name}` }, { key: 'begin' })
    if (reply.status !== 'approved') throw new Refusal(of, reply)
  } else if ('duration' in before) await step.sleep(id, before.duration, { key: 'delay' })
  else await step.waitForEvent(id, { event: before.event, key: 'trigger' })
}

export const waited = async (
  step: Waiting,
  of: PlanStep,
  work: Extract<PlanStep['work'], { readonly kind: 'wait' }>,
  key: string | null,
): Promise<Json> => {
  const { id, name } = of
  if ('duration' in work.for) {
    await step.sleep(id, work.for.duration, alone(key))
    return null
  }
  const { event, timeout } = work.for
  const found = await step.waitForEvent(id, { event, ...(timeout === null ? {} : { timeout }), ...alone(key) })
  if (found.event !== null) return { timed_out: false, event: found.event.type, data: found.event.data }
  if (work.onTimeout === 'fail') throw new TrihandError('STEP_TIMEOUT', `${event} did not arrive in time for ${name}`)
  if (work.onTimeout === 'continue') return { timed_out: true }
  const asked = {
    taskType: 'decision',
    title: `${event} did not arrive in time for ${name}`,
    actions: ['approve', 'reject'],
  }
  const reply = await step.human(id, asked as TaskOptions, keyed(key, 'late'))
  if (reply.status !== 'approved') throw new Refusal(of, reply)
  return { timed_out: true, ...(taskOutput(reply) as { readonly [name: string]: Json }) }
}
