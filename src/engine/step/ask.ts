/**
 * Asking people: how a step of a run opens a task, or resubmits one that waits for a revision.
 *
 * Owns the creation of the task in the append that opens the step. The run finds the answer when it reconciles (wait/reconcile.ts).
 *
 * ask-1  The task exists if and only if the step has begun, and a step has one task.
 */
import { advanceTask } from '#engine/core/advance.ts'
import { causeFrom } from '#engine/core/cause.ts'
import { keptDecision } from '#engine/rerun/kept-decision.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { lifecycleAbout, NO_SIDE_WRITES, plainRequest, type SideWrites } from '#engine/run/run-request.ts'
import { taskBirth } from '#engine/tasks/append.ts'
import { reviseTask } from '#engine/tasks/command.ts'
import { forbidProducer } from '#model/access/human-only.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type TaskId, taskId } from '#model/kernel/ids.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import type { AskRequest } from '#ports/step-port.ts'

const begin = (activeRun: ActiveRun, step: string, task: TaskId, name: string, sideWrites: SideWrites | null): void => {
  const command = { type: 'start_child', now: activeRun.context.clock.now(), step, child: task, handler: name } as const
  activeRun.ask({ command, sideWrites, done: null })
}

export const askPeople = async (activeRun: ActiveRun, step: string, request: AskRequest): Promise<void> => {
  const { spec, revises } = request
  if (revises === undefined) return openTask(activeRun, step, request)
  // Before the step begins: after a crash in between, the same revision is submitted again, which changes nothing.
  await reviseTask(activeRun.context, revises, spec)
  begin(activeRun, step, revises.task, spec.name, null)
}

/** Builds a task that is created in the same append as a fact of this run. */
export const taskOf = (
  activeRun: ActiveRun,
  step: string,
  spec: TaskSpec,
): { readonly id: TaskId } & ReturnType<typeof taskBirth> => {
  const { context, record } = activeRun
  const now = context.clock.now()
  const id = taskId(context.ids.uuid())
  const before = { kind: 'none' } as const
  const cause = causeFrom(record, activeRun.state)
  const command = { type: 'open_task', now, world: context.taskWorld, run: record.id, step, spec, cause } as const
  const { state, facts, refusal } = advanceTask(before, command)
  if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
  const place = { id, handler: record.handler, session: record.session }
  return { id, ...taskBirth(context, place, { before, state, facts }, now) }
}

/** Refuses the task before people see it: an action that may not send its event could never be chosen. */
const requireActions = ({ context, record }: ActiveRun, { actions, autoAction }: TaskSpec): void => {
  const { events } = context.system()
  for (const { name, emits } of actions) {
    if (emits === null) continue
    const producer = { kind: 'task', handler: record.handler, byPerson: name !== autoAction } as const
    const forbidden = forbidProducer(emits, events.get(emits)?.only ?? null, producer)
    if (forbidden !== null) throw new TrihandError(forbidden.code, `the action ${name}: ${forbidden.detail}`)
  }
}

const openTask = async (activeRun: ActiveRun, step: string, { spec, reports }: AskRequest): Promise<void> => {
  requireActions(activeRun, spec)
  const kept = await keptDecision(activeRun, step, spec)
  if (kept !== null) {
    const now = activeRun.context.clock.now()
    return activeRun.ask(plainRequest({ type: 'reuse_step', now, ...kept }))
  }
  const { id, write, told } = taskOf(activeRun, step, spec)
  begin(activeRun, step, id, spec.name, {
    ...NO_SIDE_WRITES,
    ...told,
    tasks: [write],
    ...lifecycleAbout(reports, { task_id: id }),
  })
}
