/** What an attempt asks its run to record when it needs nothing decided: a result, or a failure that is certain; and the key of its effect. */
import type { Luggage } from '#engine/run/request.ts'
import type { Resident } from '#engine/run/resident.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { RunCommand } from '#model/run/fact.ts'

/** One key for every attempt of a step; the empty step stands for the whole run. */
export const effectKeyOf = ({ record, context }: Resident, step: string): string =>
  `th1_${context.ids.digest(`${record.tenant}\n${record.id}\n${step}`)}`

const NONE: readonly never[] = []
const NO_RETRY: RetryPolicy = { maxAttempts: 1, baseMs: 0, factor: 1, maxMs: 0 }

/** Trying again could not help, and it is known that nothing has happened outside. */
export const failAtOnce = (resident: Resident, step: string, attempt: number, error: Failure): void => {
  const command: RunCommand = {
    type: 'fail_step',
    now: resident.context.clock.now(),
    step,
    attempt,
    error,
    retryable: false,
    definite: true,
    effect: 'idempotent',
    retry: NO_RETRY,
    roll: 0,
  }
  resident.ask({ command, luggage: null, done: null })
}

export const completeStep = (
  resident: Resident,
  done: { readonly step: string; readonly attempt: number; readonly result: Payload; readonly luggage: Luggage | null },
): void => {
  const { step, attempt, result, luggage } = done
  const events = luggage === null ? NONE : luggage.events.map(({ event }) => event.id)
  resident.ask({
    command: { type: 'complete_step', now: resident.context.clock.now(), step, attempt, result, events },
    luggage,
    done: null,
  })
}
