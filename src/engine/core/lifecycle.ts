/**
 * Lifecycle events of runs: written in the append of the fact that they report, if the system listens to them or waits for them.
 *
 * Owns how a lifecycle event is made and routed to the runs it starts. Which fact emits which event is model/event/lifecycle.ts; events
 * of people's work are engine/tasks/events.ts.
 *
 * lifecycle-2  An event's id comes from the fact that it reports: the same fact never emits it twice, also when it is decided again.
 */
import type { EndingContext, EndingRecord } from '#engine/run/declared-end.ts'
import { mergeSideWrites, type SideWrites } from '#engine/run/run-request.ts'
import { isOwn } from '#manifest/define/builtin-functions.ts'
import { isListened } from '#manifest/define/system.ts'
import type { Event } from '#model/event/event.ts'
import {
  type FactLifecycleReport,
  isEmittedIfListened,
  LIFECYCLE,
  lifecycleReportOf,
  lifecycleSource,
} from '#model/event/lifecycle.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { RunFact, RunState } from '#model/run/fact.ts'
import { causeFrom } from './cause.ts'
import type { EngineContext } from './engine-context.ts'
import { newEvent } from './events.ts'
import { route } from './route.ts'

export type LifeRecord = EndingRecord & { readonly parent: ClaimableId | null }

interface Happened {
  readonly state: RunState
  readonly facts: readonly RunFact[]
  /** Events that an executor emits by itself, with the facts that carry them. */
  readonly reports?: readonly FactLifecycleReport[]
}

/** What an executor reports of its work besides: tokens, cost. */
type Report = { readonly [name: string]: Json }

/** Null: the handler is built in or unknown, so it emits no lifecycle events. */
const modalityOf = (context: Pick<EngineContext, 'system'>, handler: string): Modality | null =>
  isOwn(handler) ? null : (context.system().functions.get(handler)?.modality ?? null)

/** Whether another handler or a wait listens to this type from this handler. A handler is never started by its own work. */
export const hasListener = (context: Pick<EngineContext, 'system'>, handler: string, type: string): boolean => {
  const { awaited, listeners } = context.system()
  if (modalityOf(context, handler) === null) return false
  return awaited.has(type) || (listeners.get(type) ?? []).some((listener) => listener.handler.name !== handler)
}

/** Refuses a wait for an event that is emitted only on demand and that the system does not listen to: the wait would never end. */
export const requireListener = (context: Pick<EngineContext, 'system'>, types: readonly string[]): void => {
  const untold = types.find((type) => isEmittedIfListened(type) && !isListened(context.system(), type, ''))
  if (untold === undefined) return
  const near = nearest(untold, Object.values(LIFECYCLE).flat())
  const hint = near === null || near === untold ? '' : `; did you mean ${near}?`
  throw new TrihandError('EVENT_NOT_TOLD', `no handler in the system waits for ${untold}${hint}`)
}

const isLarge = (fact: RunFact | undefined): boolean => fact?.type === 'run.completed' && !('value' in fact.output)

const hashOf = (context: EndingContext, fact: RunFact | undefined): { readonly [name: string]: Json } => {
  if (fact?.type !== 'run.completed') return {}
  const { output } = fact
  return { result_hash: 'value' in output ? context.ids.digest(canonical(output.value)) : output.blob }
}

const reportsOf = (
  context: EndingContext,
  { handler }: LifeRecord,
  { state, facts, reports = [] }: Happened,
  report: Report,
): readonly FactLifecycleReport[] => {
  const modality = modalityOf(context, handler)
  if (modality === null) return []
  const own = facts.flatMap((fact, index) => {
    const telling = lifecycleReportOf(modality, fact, state)
    if (telling === null || !hasListener(context, handler, telling.type)) return []
    const isEnd = telling.step === null && telling.type !== 'workflow.retrying'
    const more = isEnd
      ? {
          ...report,
          ...hashOf(context, fact),
          ...(isLarge(fact) && modality === 'agent' && { structured_output: null }),
        }
      : {}
    return [{ ...telling, index, data: { ...telling.data, ...more } }]
  })
  return [...reports.filter(({ type }) => hasListener(context, handler, type)), ...own]
}

const parcelOf = (
  context: EndingContext,
  record: LifeRecord,
  happened: Happened,
  seq: number,
  told: FactLifecycleReport,
): SideWrites => {
  const { system, tenant, clock, ids, redaction } = context
  const now = clock.now()
  const { id, handler, session, parent } = record
  const { state, facts } = happened
  const { type, step, attempt, index, data } = told
  const modality = modalityOf(context, handler) as Modality
  const last = state.kind === 'ended' ? state.last : state.kind === 'live' ? state : null
  const event: Event = {
    id: `${id}/${seq + index}/${type}`,
    tenant,
    source: lifecycleSource(modality, handler),
    type,
    subject: id,
    time: (facts[index] as { readonly at: Instant }).at,
    data: {
      ...{ run_id: id, step_id: step, session_id: session, handler, modality, attempt },
      ...{
        parent_run_id: last?.start.parentStep == null ? null : parent,
        parent_step_id: last?.start.parentStep ?? null,
      },
      ...data,
    },
    ...causeFrom(record, state),
  }
  // Without a lease: an event that is decided again after a conflict must not reserve slots that are never released.
  const { runs, suppressed } = route({ system: system(), ids, redaction, tenant, now, reserve: () => null }, event, 0)
  return { events: [newEvent(context, event, suppressed)], runs, documents: [], memory: null }
}

/** Whether these facts emit a lifecycle event that has a listener. */
export const emitsLifecycle = (
  context: Pick<EngineContext, 'system'>,
  handler: string,
  { state, facts }: Happened,
): boolean => {
  const modality = modalityOf(context, handler)
  if (modality === null) return false
  return facts.some((fact) => {
    const telling = lifecycleReportOf(modality, fact, state)
    return telling !== null && hasListener(context, handler, telling.type)
  })
}

/** `version` is the run's before these facts. Null: there is no lifecycle event, or none that has a listener. */
export const lifecycleOf = (
  context: EndingContext,
  record: LifeRecord,
  happened: Happened,
  version: number,
  report: Report = {},
): SideWrites | null => {
  if (!context.system().hearsLife) return null
  const told = reportsOf(context, record, happened, report)
  if (told.length === 0) return null
  return { ...mergeSideWrites(told.map((one) => parcelOf(context, record, happened, version, one))), memory: null }
}
