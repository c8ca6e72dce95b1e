/**
 * The end of a run as an event: `after: <function>` listens to it, and a callback delivers it to the requester of the run.
 *
 * Owns its shape. It is made only if there is a listener or a callback, and written with the run's last fact.
 *
 * ending-1  The event exists, and exists once, if and only if the run has ended in that way while there was a listener.
 * ending-2  Each end of a run that was started with a callback creates a run that delivers the notice.
 */
import { causeFrom, startOf } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { newEvent } from '#engine/core/events.ts'
import { route } from '#engine/core/route.ts'
import { callbackFunction } from '#manifest/define/callback.ts'
import { endSource } from '#manifest/define/sources.ts'
import { isListened } from '#manifest/define/system.ts'
import type { Event } from '#model/event/event.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { EndedRun, RunFact, RunState } from '#model/run/fact.ts'
import { declaredEnd, declaresEnd, type Ended, type EndingContext, type EndingRecord } from './declared-end.ts'
import { type NewRun, newRun } from './new-run.ts'
import { NO_RESOURCE_CLAIM } from './resource-claim.ts'
import { mergeSideWrites, NO_SIDE_WRITES, type SideWrites } from './run-request.ts'

const ENDS: ReadonlySet<RunFact['type']> = new Set([
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.expired',
  'run.quarantined',
])

/** Returns the type of the end event of these facts, if it has a listener. */
const listenedEnd = (
  context: Pick<EngineContext, 'system'>,
  handler: string,
  facts: readonly RunFact[],
): string | null => {
  const fact = facts.find(({ type }) => ENDS.has(type))
  if (fact === undefined) return null
  const type = `trihand.${fact.type}`
  return isListened(context.system(), type, endSource(handler)) ? type : null
}

/** A large output is not copied into the event, which names the run. */
const outputOf = (output: Payload | null): Json => (output !== null && 'value' in output ? output.value : null)

/** Whether an end with these facts causes an event or a callback. */
export const causesEndEvents = (
  context: Pick<EngineContext, 'system'>,
  handler: string,
  { state, facts }: Ended,
): boolean =>
  startOf(state)?.callback !== undefined ||
  listenedEnd(context, handler, facts) !== null ||
  declaresEnd(context, handler, facts)

/** What is written with the end of a run: the end event, the events that its handler declares for such an end, and the callback's run. */
export const endingOf = (
  context: EndingContext,
  record: EndingRecord,
  ended: Ended,
  version: number,
): SideWrites | null => {
  const declared = declaredEnd(context, record, ended, version)
  const heard = heardEnding(context, record, ended, version)
  const callback = callbackOf(context, record, ended.state)
  const asked = callback === null ? null : { ...NO_SIDE_WRITES, runs: [callback] }
  const parts = [heard, declared, asked].filter((part) => part !== null)
  return parts.length < 2 ? (parts[0] ?? null) : { ...mergeSideWrites(parts), memory: null }
}

/** ending-2. Creates the run that delivers the callback; null: the run has no callback. */
export const callbackOf = (context: EndingContext, record: EndingRecord, state: RunState): NewRun | null => {
  const url = startOf(state)?.callback
  if (url === undefined || state.kind !== 'ended') return null
  const { tenant, clock, system } = context
  const { id, handler, session } = record
  const [now, cause] = [clock.now(), causeFrom(record, state)]
  const end = state.status === 'success' || state.status === 'partial' ? 'completed' : state.status
  // The id is that of the run, at every try and every end.
  const about = { id, tenant, source: endSource(handler), type: `trihand.run.${end}`, subject: id, time: now }
  const event = { ...about, data: dataOf(record, state), ...cause }
  return newRun(context, {
    definition: callbackFunction,
    systemHash: system().hash,
    ...{ tenant, now, cause, session },
    input: { kind: 'given', payload: { value: { url, event } as unknown as Json } },
    event: null,
    parent: null,
    resourceClaim: NO_RESOURCE_CLAIM,
    // No lease, as for the runs that are routed at an end: it may be decided again after a conflict.
    lease: null,
  })
}

const dataOf = ({ id, handler, session }: EndingRecord, { status, output, error }: EndedRun): Json => ({
  run_id: id,
  session_id: session,
  handler,
  modality: 'workflow',
  status,
  output: outputOf(output),
  error: error === null ? null : { code: error.code, message: error.message },
})

/** `version` is the run's before these facts. Null: there is no listener. */
const heardEnding = (
  context: EndingContext,
  record: EndingRecord,
  { state, facts }: Ended,
  version: number,
): SideWrites | null => {
  const type = listenedEnd(context, record.handler, facts)
  if (type === null || state.kind !== 'ended') return null
  const { system, tenant, clock, ids, redaction } = context
  const { id, handler } = record
  const now = clock.now()
  const event: Event = {
    // The id comes from the fact, so that the ledger can be checked for it.
    id: `${id}/${version + facts.findIndex((fact) => ENDS.has(fact.type))}`,
    tenant,
    source: endSource(handler),
    type,
    subject: id,
    time: now,
    data: dataOf(record, state),
    ...causeFrom(record, state),
  }
  // Without a lease: a run whose end is decided again after a conflict must not reserve slots that are never released.
  const { runs, suppressed } = route({ system: system(), ids, redaction, tenant, now, reserve: () => null }, event, 0)
  return { events: [newEvent(context, event, suppressed)], runs, documents: [], memory: null }
}
