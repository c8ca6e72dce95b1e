/** Commands of an attempt that need no further decision: a result, or a failure that is certain. Also the idempotency key of its effect. */
import type { ActiveRun } from '#engine/run/active-run.ts'
import { plainRequest, type SideWrites } from '#engine/run/run-request.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { RunCommand } from '#model/run/fact.ts'

/** One key for all attempts of a step; the empty step name means the whole run. */
export const effectKeyOf = ({ record, context }: ActiveRun, step: string): string =>
  `th1_${context.ids.digest(`${record.tenant}\n${record.id}\n${step}`)}`

const NONE: readonly never[] = []
const NO_RETRY: RetryPolicy = { maxAttempts: 1, baseMs: 0, factor: 1, maxMs: 0 }

/** Fails the step for good: a retry could not help, and nothing has happened outside. */
export const failAtOnce = (activeRun: ActiveRun, step: string, attempt: number, error: Failure): void => {
  const command: RunCommand = {
    type: 'fail_step',
    now: activeRun.context.clock.now(),
    step,
    attempt,
    error,
    retryable: false,
    definite: true,
    effect: 'idempotent',
    retry: NO_RETRY,
    roll: 0,
  }
  activeRun.ask(plainRequest(command))
}

export const completeStep = (
  activeRun: ActiveRun,
  done: {
    readonly step: string
    readonly attempt: number
    readonly result: Payload
    readonly sideWrites: SideWrites | null
  },
): void => {
  const { step, attempt, result, sideWrites } = done
  const events = sideWrites === null ? NONE : sideWrites.events.map(({ event }) => event.id)
  activeRun.ask({
    command: { type: 'complete_step', now: activeRun.context.clock.now(), step, attempt, result, events },
    sideWrites,
    done: null,
  })
}
