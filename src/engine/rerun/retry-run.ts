/**
 * Retries a failed run, which begins a new life: requested by a person, by a bulk job, or by the parent that calls it again.
 *
 * Owns the only way to a retry: through the gate of the run's handler, if it has one (coordinators/gate-retry.ts). What the new life goes
 * on with is model/run/reopen.ts.
 */
import type { RetryAnswer, RetryIntent, RetryReport } from '#engine/coordinators/gate-config.ts'
import { advanceRun } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { externalCommand } from '#engine/run/external-command.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { doneSteps } from '#model/run/child-retry.ts'
import type { RunFact } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import { lastCancelEvent, retryCommand } from './retry-command.ts'

export const retryRun = async (
  context: EngineContext,
  run: RunId,
  asked: RetryIntent,
  /** Whether the facts show that this retry was requested before: then nothing is done. */
  isDone: (happened: readonly RunFact[]) => boolean = () => false,
): Promise<RetryAnswer> => {
  const [record] = await context.ledger.load([run])
  const intent = { ...asked, ...(await lastCancelEvent(context, record)) }
  const isGated = record != null && record.tenant === context.tenant && asked.isUngated !== true
  const gate = isGated ? context.gates.gateFor(record.handler) : null
  if (record == null || gate === null) {
    const command = (now: Instant, happened: readonly RunFact[]) =>
      isDone(happened) ? null : retryCommand(intent, now, happened)
    await externalCommand(context, run, command)
    return 'begun'
  }
  const happened = record.facts.map(readRunFact)
  if (isDone(happened)) return 'begun'
  const state = fold(runMachine, happened)
  const { refusal } = advanceRun(state, retryCommand(intent, context.clock.now(), happened))
  if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
  return state.kind === 'ended' ? context.gates.retry(record.handler, { record, state, intent }) : 'begun'
}

/** Retries a run, and returns what a person wants to know: whether it has begun, and the steps that are not repeated. */
export const retryWithReport = async (
  context: EngineContext,
  run: RunId,
  intent: RetryIntent,
): Promise<RetryReport> => {
  const [record] = await context.ledger.load([run])
  const before = fold(runMachine, record?.facts.map(readRunFact) ?? [])
  const state = await retryRun(context, run, intent)
  return { state, done: before.kind === 'ended' ? doneSteps(before.last) : [] }
}
