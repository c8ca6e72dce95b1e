/**
 * Events that a handler declares for an end that is not its success: failure, time-out, cancel.
 *
 * Owns which of them are written with the run's last fact. A condition that cannot be evaluated does not hold: the run has ended, and
 * nothing can fail it any more. The events of a success are sent by the handler's executor.
 */
import { type Caused, causeFrom } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { laterRun, newEvent } from '#engine/core/events.ts'
import { eventRoot, route } from '#engine/core/route.ts'
import { chooseEmits, type Ending, emitData } from '#model/event/emits.ts'
import type { Event, StoredEvent } from '#model/event/event.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { SessionId } from '#model/kernel/ids.ts'
import type { EndedRun, RunFact, RunState } from '#model/run/fact.ts'
import type { EmitSpec, Roots } from '#model/workflow/spec.ts'
import { mergeSideWrites, type SideWrites } from './run-request.ts'

export type EndingContext = Pick<EngineContext, 'ids' | 'redaction' | 'system' | 'tenant' | 'clock'>
export type EndingRecord = Caused & { readonly session: SessionId | null }

export interface Ended {
  readonly state: RunState
  readonly facts: readonly RunFact[]
}

const TIMEOUTS: ReadonlySet<ErrorCode> = new Set([
  'RUN_DEADLINE',
  'RUN_START_EXPIRED',
  'STEP_TIMEOUT',
  'FAN_IN_TIMEOUT',
])

const endingKind = ({ status, error }: EndedRun): Ending => {
  if (status === 'cancelled') return 'cancelled'
  return status === 'expired' || (error !== null && TIMEOUTS.has(error.code)) ? 'timeout' : 'failure'
}

const specsOf = (context: Pick<EngineContext, 'system'>, handler: string): readonly EmitSpec[] =>
  (context.system().functions.get(handler)?.workflow.emits ?? []).filter(
    ({ on }) => on !== 'success' && on !== 'partial',
  )

const BAD_ENDS: ReadonlySet<RunFact['type']> = new Set([
  'run.failed',
  'run.cancelled',
  'run.expired',
  'run.quarantined',
])

export const declaresEnd = (
  context: Pick<EngineContext, 'system'>,
  handler: string,
  facts: readonly RunFact[],
): boolean => facts.some(({ type }) => BAD_ENDS.has(type)) && specsOf(context, handler).length > 0

const chosen = (specs: readonly EmitSpec[], ending: Ending, roots: Roots): readonly EmitSpec[] => {
  try {
    return chooseEmits(specs, { ending, hasSent: false, roots })
  } catch {
    // Events without a condition are still emitted.
    return chooseEmits(
      specs.filter(({ when }) => when === null),
      { ending, hasSent: false, roots },
    )
  }
}

export const declaredEnd = (
  context: EndingContext,
  record: EndingRecord,
  { state, facts }: Ended,
  version: number,
): SideWrites | null => {
  if (state.kind !== 'ended' || !declaresEnd(context, record.handler, facts)) return null
  const trigger = record.event as StoredEvent | null
  const { code, message } = state.error ?? { code: 'INTERNAL', message: '' }
  const event = trigger === null ? null : eventRoot(trigger)
  const roots: Roots = {
    ...{ event, trigger: event, payload: trigger?.data ?? null, output: null, result: null, agent: null },
    run: { id: record.id },
    error: { code, message },
  }
  // The place of the ending fact, which names the event, so that the ledger can be checked for it.
  const seq = version + facts.findIndex(({ type }) => BAD_ENDS.has(type))
  const emits = chosen(specsOf(context, record.handler), endingKind(state), roots)
  const parcels = emits.map((spec) => parcelOf(context, { ...record, seq }, state, spec, roots))
  return { ...mergeSideWrites(parcels), memory: null }
}

const parcelOf = (
  context: EndingContext,
  record: EndingRecord & { readonly seq: number },
  state: RunState,
  spec: EmitSpec,
  roots: Roots,
): SideWrites => {
  const { ids, redaction, tenant, clock, system } = context
  const cause = causeFrom(record, state)
  const now = clock.now()
  const data = spec.data === null ? { run_id: record.id, error: roots['error'] ?? null } : emitData(spec, roots)
  const empty = { events: [], runs: [], documents: [], tasks: [], memory: null }
  if (spec.delayMs !== null) {
    const intent = { type: spec.event, data, subject: record.id }
    return {
      ...empty,
      runs: [laterRun(context, { cause, session: record.session }, intent, { delayMs: spec.delayMs })],
    }
  }
  const event: Event = {
    // If it is decided again after a conflict, it is the same event.
    id: `${record.id}/${record.seq}/${spec.event}`,
    tenant,
    source: 'trihand',
    type: spec.event,
    subject: record.id,
    time: now,
    data,
    ...cause,
  }
  const { runs, suppressed } = route({ system: system(), ids, redaction, tenant, now, reserve: () => null }, event, 0)
  return { ...empty, events: [newEvent(context, event, suppressed)], runs }
}
