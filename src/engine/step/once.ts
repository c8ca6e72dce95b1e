/**
 * Helpers for an attempt that may happen once: its performer, the evidence that people see, and the checks that it may begin or go on.
 *
 * Holds no state. attempts.ts writes the intent and the result of the attempt; late-result.ts writes an answer that comes too late.
 */
import { storeValue } from '#engine/core/payloads.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { type Failure, TrihandError } from '#model/kernel/errors.ts'
import { type Instant, workerId } from '#model/kernel/ids.ts'
import { toJson } from '#model/kernel/json.ts'
import type { Evidence, Performer } from '#model/run/step.ts'
import { shownValue } from '#model/task/uncertain-task.ts'
import type { StepRequest, TaskRequest } from '#ports/step-port.ts'
import { reportLate } from './late-result.ts'

const TAKEN: Failure = { code: 'STEP_ABORTED', message: 'another worker holds the run' }

export const asFailure = (error: unknown): Failure =>
  error instanceof TrihandError
    ? { code: error.code, message: error.detail }
    : { code: 'INTERNAL', message: String(error) }

/** True if the run is in memory, alive, neither cancelled nor paused, and the worker is not stopped: steps may begin. */
export const isOpen = ({ isGone, live, context }: ActiveRun): boolean =>
  !isGone && live !== null && live.cancel === null && live.pause === null && !context.worker.isStopped

/** Returns the evidence that people see about the step; null if the step gives neither an input nor a target. */
export const evidenceOf = (request: StepRequest | TaskRequest): Evidence | null => {
  if (!('body' in request)) {
    const { executorType, task } = request
    return { input: shownValue(task.input), target: `${executorType} ${task.type}` }
  }
  const { input, target = null } = request
  return input === undefined && target === null ? null : { input: shownValue(toJson(input ?? null)), target }
}

/** uncertain-1: sets the instant from which people may be asked about this attempt. */
export const performerOf = (
  { record, context }: ActiveRun,
  request: StepRequest | TaskRequest,
  now: Instant,
): Performer => {
  const { timeoutMs } = 'body' in request ? request : request.constraints
  const askAt = Math.min(now + timeoutMs + context.worker.leases.ttlMs, Number.MAX_SAFE_INTEGER)
  return { id: context.ids.uuid(), worker: record.lease ?? workerId(''), epoch: record.epoch, askAt }
}

/** leases-3: a worker that may have lost its leases asks the ledger before it begins anything. Calls `leave` if the attempt may not begin. */
export const makeSure = (activeRun: ActiveRun, begin: () => void, leave: (why: Failure) => void): void => {
  const { context, record } = activeRun
  const look = async (): Promise<void> => {
    if (!(await context.worker.leases.holds(record.id, record.epoch))) {
      activeRun.drop('fenced', TAKEN)
      leave(TAKEN)
    } else if (isOpen(activeRun)) begin()
    else leave({ code: 'STEP_ABORTED', message: 'the run does not continue' })
  }
  void activeRun.whileActive(look).catch((error: unknown) => leave(asFailure(error)))
}

/** True if an effect may begin: the run is in memory, and no other worker can have taken it. */
export const isStillMine = async (activeRun: ActiveRun): Promise<boolean> => {
  const { context, record } = activeRun
  const { leases } = context.worker
  if (!isOpen(activeRun)) return false
  if (leases.isSure) return true
  try {
    if (await leases.holds(record.id, record.epoch)) return isOpen(activeRun)
  } catch {
    // A ledger that does not answer proves nothing.
    return false
  }
  activeRun.drop('fenced', TAKEN)
  return false
}

export interface Attempted {
  readonly step: string
  readonly attempt: number
  /** The performer's id, as in the intent of the attempt. */
  readonly performer: string
}

export type LateEnd =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** late-result-1. If the answer cannot be stored, the error is reported in its place, so that the attempt is at least known to be over. */
export const answeredLate = ({ context, record }: ActiveRun, about: Attempted, end: LateEnd): void => {
  const report = async (): Promise<void> => {
    if (end.kind === 'failed') return reportLate(context, record.id, { ...about, result: null, error: end.failure })
    try {
      const { payload: result } = await storeValue(context, end.result)
      await reportLate(context, record.id, { ...about, result, error: null })
    } catch (error) {
      await reportLate(context, record.id, { ...about, result: null, error: asFailure(error) })
    }
  }
  void report().catch(() => {})
}
