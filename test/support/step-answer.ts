/**
 * Answers "did it happen?" like a careful person: reads the task, types the required text, and acknowledges its warning.
 *
 * Owns nothing: each answer uses the public interface.
 */
import type { Decision, StepAnswer, Tasks } from '#engine/tasks/tasks.ts'
import type { RunId, TaskId } from '#model/kernel/ids.ts'
import type { TaskState } from '#model/task/fact.ts'
import type { Identity } from '#model/task/spec.ts'
import { actionOf } from '#model/task/uncertain-task.ts'

export interface Asked {
  readonly tasks: Pick<Tasks, 'show' | 'ofStep' | 'resolve'>
}

type Careful = Pick<Decision, 'shownHash' | 'confirm' | 'acknowledged'>

/** The additions to this action by a person who has read the task. */
export const carefully = (state: TaskState, action: string): Careful => {
  if (state.kind === 'none') return {}
  const { spec, hash } = state.kind === 'open' ? state : state.task
  const { confirm = null, warning } = spec.actions.find(({ name }) => name === action) ?? {}
  return { shownHash: hash, confirm, acknowledged: warning !== undefined }
}

export const operator = (id: string): Identity => ({ id, kind: 'user', groups: ['operators'] })

/** Returns the task that was decided. */
export const answerStep = async (
  at: Asked,
  run: RunId,
  step: string,
  { by, verdict, ...answer }: Pick<StepAnswer, 'verdict' | 'result'> & { readonly by: string },
): Promise<TaskId> => {
  const { state } = await at.tasks.show(await at.tasks.ofStep(run, step))
  return at.tasks.resolve(run, step, { ...answer, ...carefully(state, actionOf(verdict)), verdict, by: operator(by) })
}
