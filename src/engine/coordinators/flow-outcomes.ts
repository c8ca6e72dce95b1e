/**
 * The outcomes of calls and events behind flow control, as documents: written with the gate's facts, read for receipts and results.
 *
 * Owns the writing and the reading. The kinds of outcomes are in model/flow/flow-outcome.ts.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { hasGate } from '#engine/core/route.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import type { StoredEvent } from '#model/event/event.ts'
import {
  eventOutcomes,
  type FlowOutcome,
  OUTCOME_TABLE,
  outcomeKey,
  outcomePrefix,
  QUEUED_TABLE,
  type QueuedRun,
  queueChanges,
  readOutcome,
  readQueued,
} from '#model/flow/flow-outcome.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import { type ErrorCode, type Failure, TrihandError } from '#model/kernel/errors.ts'
import type { Instant, RunId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { DocumentWrite } from '#ports/ledger.ts'

/** A promised run that will never start, and the reason. */
interface Dropped {
  readonly run: RunId
  readonly refusal: Failure
}

const queuedDocument = (tenant: TenantId, run: RunId, value: QueuedRun | null): DocumentWrite => ({
  tenant,
  table: QUEUED_TABLE,
  key: run,
  value: value as unknown as Json,
})

export const outcomeDocuments = (
  tenant: TenantId,
  handler: string,
  { facts, dropped }: { readonly facts: readonly GateFact[]; readonly dropped: readonly Dropped[] },
): readonly DocumentWrite[] => {
  const since = facts[0]?.at ?? 0
  const queued = [...queueChanges(facts)].map(([run, reason]) =>
    queuedDocument(tenant, run, reason === null ? null : { state: 'queued', handler, reason, since }),
  )
  const broken = dropped.map(({ run, refusal }) =>
    queuedDocument(tenant, run, { state: 'dropped', handler, ...refusal }),
  )
  const outcomes = [...eventOutcomes(facts)].map(([sequence, outcome]) => ({
    tenant,
    table: OUTCOME_TABLE,
    key: outcomeKey(sequence, handler),
    value: outcome as unknown as Json,
  }))
  return [...queued, ...broken, ...outcomes]
}

/** Returns the promise under this run's id; null if there is none or the run already exists. */
export const queuedRun = async (
  context: Pick<EngineContext, 'document' | 'tenant'>,
  run: RunId,
): Promise<QueuedRun | null> => readQueued(await context.document(context.tenant, QUEUED_TABLE, run))

/** Records that a run that waits at its gate is promised, because its id is about to be returned to another caller. */
export const promiseRun = async (
  { commit, appendId, tenant }: Pick<EngineContext, 'commit' | 'appendId' | 'tenant'>,
  run: RunId,
  { handler, since }: { readonly handler: string; readonly since: Instant },
): Promise<void> => {
  const promise = queuedDocument(tenant, run, { state: 'queued', handler, reason: 'overlap', since })
  await commitOnce(commit, { appendId: appendId(), writes: [], events: [], signals: [], documents: [promise] })
}

/** A handler that listens to an event and was not started by it. */
export interface NotStarted extends FlowOutcome {
  readonly trigger: string
}

/** The outcomes of an event at the gates of its handlers. */
export interface EventTrail {
  readonly suppressed: readonly NotStarted[]
  /** Handlers whose flow control has not decided yet. */
  readonly pending: readonly string[]
}

/** The maximum number of runs that an event may start. */
const MOST_OUTCOMES = 1_000

const outcomesOf = async (
  context: Pick<EngineContext, 'documents' | 'tenant'>,
  sequence: number,
): Promise<readonly NotStarted[]> => {
  const prefix = outcomePrefix(sequence)
  const query = { tenant: context.tenant, table: OUTCOME_TABLE, after: prefix, limit: MOST_OUTCOMES }
  const rows = (await context.documents(query)).filter(({ key }) => key.startsWith(prefix))
  return rows.flatMap(({ key, value }) => {
    const outcome = readOutcome(value)
    return outcome === null ? [] : [{ trigger: key.slice(prefix.length), ...outcome }]
  })
}

export const trailOf = async (
  context: Pick<EngineContext, 'documents' | 'tenant' | 'gates' | 'system'>,
  event: StoredEvent,
): Promise<EventTrail> => {
  const suppressed = await outcomesOf(context, event.sequence)
  const listeners = context.system().listeners.get(event.type) ?? []
  const pending: string[] = []
  for (const listener of listeners)
    if (hasGate(listener) && (await context.gates.isUndecided(listener.handler.name, event)))
      pending.push(listener.handler.name)
  return { suppressed, pending }
}

export const noSuchRun = (run: RunId): TrihandError => new TrihandError('NOT_FOUND', `there is no run ${run}`)

/** Returns the error for a command to a run that does not exist: it waits for its turn, or there is no such run. */
export const refusalOfAbsent = async (
  context: Pick<EngineContext, 'document' | 'tenant'>,
  run: RunId,
): Promise<TrihandError> => {
  const queued = await queuedRun(context, run)
  if (queued?.state !== 'queued') return noSuchRun(run)
  return new TrihandError('RUN_QUEUED', `${run} is queued at ${queued.handler} and has not started`)
}

/** The failure of a promised run that was dropped. */
export const failureOf = ({ code, message }: Extract<QueuedRun, { readonly state: 'dropped' }>): Failure => ({
  code: code as ErrorCode,
  message,
})
