/**
 * A step with an unknown outcome opens a task that asks a person: did it happen?
 *
 * Owns the task that is created with the uncertain outcome, and what its decision means for the run. What the task shows and when it may be
 * opened are pure rules (model/task/uncertain-task.ts, model/run/uncertain-step.ts).
 *
 * uncertain-step-1  A task exists if and only if the step is uncertain: it is written with that fact and closed by the decision on it.
 * uncertain-step-2  The task is the only way to answer: an answer that names a run and a step goes to its task, with the same checks.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { storeValue } from '#engine/core/payloads.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { NO_SIDE_WRITES, plainRequest, type SideWrites } from '#engine/run/run-request.ts'
import { loadTask } from '#engine/tasks/state.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId, TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Payload } from '#model/kernel/payload.ts'
import { isAsked } from '#model/run/attempt.ts'
import type { LiveRun, RunCommand } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { UncertainStep } from '#model/run/step.ts'
import { stillActing, uncertainRules } from '#model/run/uncertain-step.ts'
import type { TaskState } from '#model/task/fact.ts'
import { RESULT_FIELD, uncertainTask, verdictOf } from '#model/task/uncertain-task.ts'
import { type TaskAnswer, taskAnswer } from '#model/task/view.ts'
import { taskOf } from './ask.ts'

/** uncertain-step-1: the task is written with the fact that makes the step uncertain, or dropped if there is no such fact. */
export const newUncertainTask = (
  activeRun: ActiveRun,
  step: string,
  uncertain: Omit<UncertainStep, 'kind' | 'task'>,
): { readonly task: TaskId; readonly sideWrites: SideWrites } => {
  const { context, record, inputs, live } = activeRun
  const earlier = live === null ? [] : stillActing(live, step, (worker) => context.worker.leases.isGone(worker))
  const asked = { handler: record.handler, step, input: inputs.input, earlier }
  const spec = uncertainTask({ ...asked, uncertain: { ...uncertain, kind: 'uncertain', task: null } })
  const { id, write, told } = taskOf(activeRun, step, spec)
  return { task: id, sideWrites: { ...NO_SIDE_WRITES, ...told, tasks: [write] } }
}

/**
 * enter-1: asks about each attempt that an earlier holder of the lease intended, but not before uncertain-1 allows it. Also asks
 * again about a step that was already uncertain, if the end of the run closed its task.
 */
export const reportUncertainSteps = (activeRun: ActiveRun): void => {
  const { live } = activeRun
  if (live === null || live.cancel !== null) return
  for (const [step, open] of live.open.entries())
    if (open.kind === 'intended' || open.kind === 'uncertain') reportUncertainStep(activeRun, live, step, open)
}

type OpenAttempt = Extract<NonNullable<ReturnType<LiveRun['open']['get']>>, { kind: 'intended' | 'uncertain' }>

const reportUncertainStep = (activeRun: ActiveRun, live: LiveRun, step: string, open: OpenAttempt): void => {
  const { context, record } = activeRun
  const { performer, late } = open
  const now = context.clock.now()
  const isGone = context.worker.leases.isGone(performer?.worker ?? null)
  if (open.kind === 'uncertain' && isAsked(live, open.task)) return
  // An attempt that began under the current lease is at work in this process.
  if (open.kind === 'intended' && performer?.epoch === record.epoch) return
  if (open.kind === 'intended' && !uncertainRules.mayAsk(open, now, isGone)) return
  const reason = open.kind === 'intended' ? 'the worker was lost while the step was running' : open.reason
  const isOver = isGone || late !== undefined || (open.kind === 'uncertain' && open.isOver)
  const { task, sideWrites } = newUncertainTask(activeRun, step, { ...open, reason, isOver })
  activeRun.ask({ command: { type: 'mark_uncertain', now, step, reason, task, isGone }, sideWrites, done: null })
}

/** Applies the decisions that people have made on uncertain steps. */
export const applyResolutions = async (activeRun: ActiveRun): Promise<void> => {
  for (const [step, open] of activeRun.live?.open.entries() ?? []) {
    if (open.kind !== 'uncertain' || open.task === null) continue
    const command = await answerOf(activeRun.context, step, open, open.task)
    if (command !== null) activeRun.ask(plainRequest(command))
  }
}

const answerOf = async (
  context: EngineContext,
  step: string,
  uncertain: UncertainStep,
  task: TaskId,
): Promise<RunCommand | null> => {
  const answer = taskAnswer((await loadTask(context, task)).state)
  const verdict = answer === null ? null : verdictOf(answer.decision)
  if (answer === null || verdict === null) return null
  const result = verdict === 'happened' ? await resultOf(context, uncertain, answer) : null
  return {
    ...{ type: 'resolve_step', now: context.clock.now(), step, verdict, by: answer.decidedBy ?? '', result, task },
    ...(answer.acknowledged === true && { warned: true }),
  }
}

/** The result of the step as the person gave it; if the person gave none, the late result of the attempt. */
const resultOf = async (context: EngineContext, { late }: UncertainStep, { fields }: TaskAnswer): Promise<Payload> => {
  const given = fields as { readonly [field: string]: Json }
  if (!Object.hasOwn(given, RESULT_FIELD) && late !== undefined && late.result !== null) return late.result
  return (await storeValue(context, given[RESULT_FIELD] ?? null)).payload
}

/** uncertain-step-2: returns the task that asks about this step. */
export const taskOfUncertainStep = async (
  { ledger, tenant }: Pick<EngineContext, 'ledger' | 'tenant'>,
  id: RunId,
  step: string,
): Promise<TaskId> => {
  const [record] = await ledger.load([id])
  if (record == null || record.tenant !== tenant) throw new TrihandError('NOT_FOUND', `there is no run ${id}`)
  const run = fold(runMachine, record.facts.map(readRunFact))
  const open = run.kind === 'live' ? run.open.get(step) : undefined
  if (open?.kind === 'uncertain' && open.task !== null) return open.task
  if (open?.kind === 'intended')
    throw new TrihandError(
      'STEP_AT_WORK',
      `${step} may still be running; if its worker does not report back, a person is asked`,
    )
  throw new TrihandError('NOT_FOUND', `this run has no uncertain step ${step}`)
}

/** Refuses a decision that the run no longer waits for because it was cancelled or has ended. */
export const requireUncertain = async (
  context: Pick<EngineContext, 'ledger'>,
  id: TaskId,
  state: TaskState,
): Promise<void> => {
  if (state.kind !== 'open' || state.spec.origin !== 'uncertain') return
  const [record] = await context.ledger.load([state.run])
  const run = record == null ? null : fold(runMachine, record.facts.map(readRunFact))
  if (run?.kind !== 'live' || !run.tasks.includes(id))
    throw new TrihandError('TASK_CLOSED', `the run no longer waits for an answer on ${state.step}`)
}
