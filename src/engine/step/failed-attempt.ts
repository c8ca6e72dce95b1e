/**
 * A failed attempt, as its run records it: it is retried, fails for good, or becomes uncertain with a task that asks a person.
 *
 * Owns the command. The run decides which of the three it becomes (`failStep` in model/run/attempt.ts).
 */
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunCommand } from '#model/run/fact.ts'
import type { StepRequest, TaskRequest } from '#ports/step-port.ts'
import { effectKeyOf } from './attempt-commands.ts'
import type { Verdict } from './executor-call.ts'
import { newUncertainTask } from './uncertain-step.ts'

type Failed = Pick<
  Extract<Verdict, { readonly kind: 'failed' }>,
  'failure' | 'retryable' | 'definite' | 'retry' | 'retryAfterMs'
> & {
  readonly carry?: Json
  readonly unanswered?: true | undefined
}

interface About {
  readonly step: string
  readonly attempt: number
  /** False if its code may still be at work. */
  readonly isOver: boolean
}

const uncertainTaskOf = (
  activeRun: ActiveRun,
  { step, attempt, isOver }: About,
  { code, message }: Failure,
): ReturnType<typeof newUncertainTask> => {
  const open = activeRun.live?.open.get(step)
  const begun = open?.kind === 'intended' ? open : { effectKey: effectKeyOf(activeRun, step) }
  return newUncertainTask(activeRun, step, { ...begun, attempt, reason: `${code}: ${message}`, isOver })
}

export const recordFailure = (
  activeRun: ActiveRun,
  { step, effect }: StepRequest | TaskRequest,
  attempt: number,
  failed: Failed,
): void => {
  const { failure: error, retryable, definite, retry, retryAfterMs, carry, unanswered } = failed
  const { clock, ids } = activeRun.context
  const now = clock.now()
  const isOver = unanswered !== true
  const uncertain = effect === 'once' && !definite ? uncertainTaskOf(activeRun, { step, attempt, isOver }, error) : null
  const command: RunCommand = {
    type: 'fail_step',
    now,
    step,
    attempt,
    error,
    retryable,
    definite,
    effect,
    retry,
    roll: ids.roll(),
    ...(retryAfterMs === null ? {} : { notBefore: now + retryAfterMs }),
    ...(carry === undefined ? {} : { carry }),
    ...(uncertain === null ? {} : { task: uncertain.task }),
    ...(isOver ? {} : { unanswered: true }),
  }
  activeRun.ask({ command, sideWrites: uncertain?.sideWrites ?? null, done: null })
  activeRun.end()
}
