/**
 * What has become of a run, for those who asked for it: its end with its output and outcome, or what it is now.
 *
 * Owns the answer only. Waiting for the end is engine.ts.
 */
import { failureOf, noSuchRun, queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Outcome } from '#model/run/outcome.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import { outcomeOf } from './outcome.ts'

export interface RunResult {
  readonly run: RunId
  readonly status: RunStatus
  readonly output: Json | null
  readonly error: { readonly code: string; readonly message: string } | null
  /** What stands around the output, in the words of the hand that did the work; null: it has not ended well. */
  readonly outcome: Outcome | null
}

const NOTHING = { output: null, error: null, outcome: null } as const

/** The run's end, or what it is now if it has not ended. */
export const lookAtRun = async (context: EngineContext, run: RunId): Promise<RunResult> => {
  const [record] = await context.ledger.load([run])
  if (record == null) return lookAtQueued(context, run)
  if (record.tenant !== context.tenant) throw noSuchRun(run)
  const { broken, handler, status } = record
  if (broken !== undefined) return { ...NOTHING, run, status, error: { code: 'FACT_BROKEN', message: broken } }
  const facts = record.facts.map(readRunFact)
  const state = fold(runMachine, facts)
  if (state.kind !== 'ended') return { ...NOTHING, run, status }
  const output = state.output === null ? null : await fetchValue(context, state.output)
  const modality = context.system().functions.get(handler)?.modality ?? 'workflow'
  const outcome = await outcomeOf(context, { modality, state, facts, output })
  return { run, status: state.status, output, error: state.error, outcome }
}

const lookAtQueued = async (context: EngineContext, run: RunId): Promise<RunResult> => {
  const queued = await queuedRun(context, run)
  if (queued?.state === 'queued') return { ...NOTHING, run, status: 'queued' }
  if (queued !== null) return { ...NOTHING, run, status: 'cancelled', error: failureOf(queued) }
  // It may have begun between the two looks.
  const [record] = await context.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
  if (record == null) throw noSuchRun(run)
  return lookAtRun(context, run)
}
