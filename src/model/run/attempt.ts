/**
 * The rules of one step's attempts: intent, result, failure, uncertain outcome and a person's answer to it.
 *
 * Owns what an attempt may record. Does not know who performs it.
 *
 * attempt-1  A step has at most one accepted result; a later one changes nothing.
 * attempt-2  An `once` effect is intended before it starts, and an intended step is never attempted again without a person's decision.
 * attempt-3  Attempts never exceed the retry policy; each retry records its reason and its instant.
 * attempt-4  A decision on a task settles the uncertain outcome that the task asked about, and no other; nothing else settles an uncertain outcome.
 * attempt-5  An `once` step that may be a finished one under a new name is performed only after a person's decision.
 */
import { retryDelayMs } from '#model/flow/policies/retry.ts'
import type { TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { type Decision, facts, type Refusal, refuse } from '#model/kernel/machine.ts'
import type { LiveRun, RunCommand, RunFact } from './fact.ts'
import { uncertainRules } from './uncertain-step.ts'

type Command<Type extends RunCommand['type']> = Extract<RunCommand, { readonly type: Type }>

/** The number of finished attempts of an unsettled step. */
export const attemptsOf = (run: LiveRun, step: string): number => {
  const open = run.open.get(step)
  if (open?.kind === 'intended') return open.attempt - 1
  return open?.kind === 'retrying' ? open.attempt : 0
}

/** What the attempt before has left for the next one. */
export const leftByLastAttempt = (run: LiveRun, step: string): Json | null => {
  const open = run.open.get(step)
  return open?.kind === 'retrying' ? (open.carry ?? null) : null
}

/** Refuses to execute a step that sleeps, waits or calls: a name means one thing at a time. Null: this step may be executed. */
export const refuseMisuse = (run: LiveRun, step: string): Refusal | null => {
  const kind = run.open.get(step)?.kind
  if (kind !== 'sleeping' && kind !== 'waiting' && kind !== 'calling') return null
  return refuse('STEP_MISUSED', `the name ${step} is used by a ${kind} step; use another name`)
}

export const intendStep = (run: LiveRun, command: Command<'intend_step'>): Decision<RunFact> => {
  const open = run.open.get(command.step)
  if (run.settled.has(command.step)) return facts()
  if (open !== undefined && open.kind !== 'retrying')
    return refuse('STEP_UNCERTAIN', `${command.step} was started before, and its outcome is unknown`)
  const { now: at, step, effectKey, performer, evidence } = command
  return facts({
    ...{ type: 'step.intended', at, step, attempt: attemptsOf(run, step) + 1, effectKey },
    ...(performer !== undefined && { performer }),
    ...(evidence !== undefined && { evidence }),
  })
}

export const completeStep = (run: LiveRun, command: Command<'complete_step'>): Decision<RunFact> => {
  // attempt-1: the first result counts.
  if (run.settled.has(command.step)) return facts()
  // attempt-2: a result that comes after the outcome became uncertain is evidence for the person, and does not settle the step.
  if (run.open.get(command.step)?.kind === 'uncertain') return keepEvidence(run, command)
  const { now, step, attempt, result, events } = command
  return facts(
    events.length === 0
      ? { type: 'step.completed', at: now, step, attempt, result }
      : { type: 'step.completed', at: now, step, attempt, result, events },
  )
}

export const failStep = (run: LiveRun, command: Command<'fail_step'>): Decision<RunFact> => {
  const { now, step, attempt, error } = command
  if (run.settled.has(step)) return facts()
  if (run.open.get(step)?.kind === 'uncertain') return keepEvidence(run, command)
  // attempt-3: a failure reported twice must not allow another attempt, nor undo the intent of the next one.
  if (attempt <= attemptsOf(run, step)) return facts()
  if (command.effect === 'once' && !command.definite)
    return facts(uncertainFact(command, attempt, `${error.code}: ${error.message}`, command.unanswered !== true))
  const left = command.carry === undefined ? {} : { carry: command.carry }
  if (!command.retryable || attempt >= command.retry.maxAttempts)
    return facts({ type: 'step.failed', at: now, step, attempt, error, ...left })
  const wakeAt = Math.max(now + retryDelayMs(command.retry, attempt, command.roll), command.notBefore ?? 0)
  return facts({ type: 'step.retry_scheduled', at: now, step, attempt, error, wakeAt, ...left })
}

export const markUncertain = (run: LiveRun, command: Command<'mark_uncertain'>): Decision<RunFact> => {
  const open = run.open.get(command.step)
  if (open?.kind === 'intended') {
    const isOver = command.isGone || open.late !== undefined
    return uncertainRules.mayAsk(open, command.now, command.isGone)
      ? facts(uncertainFact(command, open.attempt, command.reason, isOver))
      : facts()
  }
  // The run ended and was retried: its task was withdrawn at the end, so a new one asks.
  const isUnasked = open?.kind === 'uncertain' && !isAsked(run, open.task) && command.task !== undefined
  return isUnasked ? facts(uncertainFact(command, open.attempt, open.reason, open.isOver || command.isGone)) : facts()
}

/** True if a person is being asked about the uncertain outcome. */
export const isAsked = (run: LiveRun, task: TaskId | null): boolean => task !== null && run.tasks.includes(task)

const uncertainFact = (
  command: Command<'mark_uncertain'> | Command<'fail_step'>,
  attempt: number,
  reason: string,
  isOver: boolean,
): RunFact => {
  const { now, step, task } = command
  const instead = command.type === 'mark_uncertain' ? command.instead : undefined
  return {
    ...{ type: 'step.uncertain', at: now, step, attempt, reason },
    ...(task !== undefined && { task }),
    ...(instead !== undefined && { instead }),
    ...(isOver && { over: true }),
  }
}

export const resolveStep = (run: LiveRun, command: Command<'resolve_step'>): Decision<RunFact> => {
  const { now, step, verdict, by, result, task, warned } = command
  const open = run.open.get(step)
  if (open?.kind !== 'uncertain') return refuse('NOT_FOUND', `this run has no uncertain step ${step}`)
  // attempt-4: a decision on an earlier task does not answer the current one.
  if (task !== open.task || !isAsked(run, task)) return facts()
  return facts({ type: 'step.resolved', at: now, step, verdict, by, result, ...(warned === true && { warned }) })
}

export const reportLate = (run: LiveRun, command: Command<'report_late'>): Decision<RunFact> => {
  if (run.settled.has(command.step)) return facts()
  const { now, step, attempt, result, error, performer } = command
  return facts({
    ...{ type: 'step.late_result', at: now, step, attempt, result, error },
    ...(performer !== undefined && { performer }),
  })
}

/** Records a result or failure that can no longer count, as evidence for a person. */
export const keepEvidence = (
  run: LiveRun,
  command: Command<'complete_step'> | Command<'fail_step'>,
): Decision<RunFact> =>
  reportLate(
    run,
    command.type === 'complete_step'
      ? { ...command, type: 'report_late', error: null }
      : { ...command, type: 'report_late', result: null },
  )
