/**
 * Finds the failed events of an ended batch: read from the run's end, for the gate that retries them.
 *
 * Owns the reading. model/flow/policies/batch-outcome.ts decides which events count as failed; the gate decides if they are retried.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import type { FlowDefinition } from '#manifest/flow/flow.ts'
import type { Arrival } from '#model/event/arrival.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { EndedRun as EndedBatch } from '#model/flow/gate-fact.ts'
import { batchOutcome } from '#model/flow/policies/batch-outcome.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { type RunId, timedRunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import type { EndedRun } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import { arrivalOf } from './arrivals.ts'

type Ended = Pick<EndedBatch, 'run' | 'status'>

/** Returns the same ends, with the failed events if there are any. */
export const withFailedItems = (
  context: EngineContext,
  flow: FlowDefinition,
  { ended, triggerOf }: { readonly ended: readonly Ended[]; readonly triggerOf: (run: RunId) => string | null },
): Promise<readonly EndedBatch[]> => {
  const isMixed = ({ status }: Ended): boolean => status === 'partial' || status === 'failed'
  return Promise.all(
    ended.map(async (end) => {
      const arrivals = isMixed(end) ? await failedIn(context, end.run, flow, triggerOf(end.run)) : []
      const [first] = arrivals
      if (first === undefined) return end
      const next = timedRunId(first.time, context.ids.digest(`again\n${end.run}`))
      return { ...end, failed: { arrivals, next, roll: context.ids.roll() } }
    }),
  )
}

const failedIn = async (
  context: EngineContext,
  run: RunId,
  flow: FlowDefinition,
  trigger: string | null,
): Promise<readonly Arrival[]> => {
  const own = trigger === null ? undefined : flow.ofTriggers.get(trigger)
  const { batch, idempotency } = (own ?? flow).policies
  // Failed events matter only for their retry and for their idempotency keys.
  if (batch === null || (batch.retry === undefined && idempotency === null)) return []
  const { ledger, tenant } = context
  const [record] = await ledger.load([run])
  const state = record == null ? null : fold(runMachine, record.facts.map(readRunFact))
  if (state?.kind !== 'ended' || state.last.start.input.kind !== 'events') return []
  const { sequences } = state.last.start.input
  const events = await ledger.events({ tenant, sequences, limit: sequences.length })
  const failed = await failedOf(context, state, events, batch.outputs ?? null)
  return events.flatMap((event) => {
    const arrival = failed.has(event.id) ? arrivalOf(event, flow, trigger) : null
    return arrival === null || 'reason' in arrival ? [] : [arrival]
  })
}

/** A run that failed for another reason has used its own retries; only failed items are retried. */
const failedOf = async (
  context: EngineContext,
  { output, error }: EndedRun,
  events: readonly StoredEvent[],
  outputs: Parameters<typeof batchOutcome>[2],
): Promise<ReadonlySet<string>> => {
  const ids = events.map(({ id }) => id)
  if (error?.code === 'BATCH_ITEMS_FAILED') return new Set(ids)
  if (output === null) return new Set()
  return new Set(batchOutcome(ids, await fetchValue(context, output), outputs).failed)
}
