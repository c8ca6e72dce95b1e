/**
 * Determines which runs an event starts: which handlers listen, whose filter matches, whose chain of causes is too long.
 *
 * Owns the matching of triggers. Pure, except for the ids and leases it is given. Flow control that needs memory belongs to a gate
 * (coordinators/gate-coordinator.ts).
 *
 * route-1  Every listener of an event gets a run or a recorded reason for none, here or at its gate.
 * route-2  A filter that fails to evaluate starts nothing and is recorded as an error.
 */
import { type NewRun, newRun } from '#engine/run/new-run.ts'
import { leaseFor, type ResourceClaim, resourceClaimOf } from '#engine/run/resource-claim.ts'
import { type Filter, filtersFor, type Listener, type System } from '#manifest/define/system.ts'
import type { Event } from '#model/event/event.ts'
import { lifecycleSource, reportedModality } from '#model/event/lifecycle.ts'
import { admit } from '#model/event/trigger.ts'
import type { Instant, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import type { Ids } from '#ports/ids.ts'
import type { Suppression } from '#ports/ledger.ts'
import { RuleFailed } from './rule-values.ts'

export interface Routed {
  readonly runs: readonly NewRun[]
  readonly suppressed: readonly Suppression[]
}

export interface RouteContext {
  readonly system: System
  readonly ids: Ids
  readonly redaction: Redaction
  readonly tenant: TenantId
  readonly now: Instant
  readonly reserve: (handler: string) => WorkerId | null
}

type Verdict =
  /** `trigger`: the trigger that matched, if it has its own flow control. */
  | { readonly kind: 'start'; readonly trigger: string | null }
  | { readonly kind: 'suppress'; readonly reason: Suppression['reason']; readonly detail: string }

/** Returns the event as rules see it. */
export const eventRoot = (event: Event): Json => ({
  id: event.id,
  source: event.source,
  type: event.type,
  subject: event.subject,
  time: event.time,
  data: event.data,
})

/** One matching filter is enough; an error counts only if no filter matches. */
const askFilters = (filters: readonly Filter[], event: Event): Verdict => {
  let refused: Verdict = {
    kind: 'suppress',
    reason: 'filter',
    detail: filters.map((filter) => filter.text).join(' | '),
  }
  for (const filter of filters) {
    if (filter.rule === null) return { kind: 'start', trigger: filter.trigger ?? null }
    const answer = filter.rule({ event: eventRoot(event), payload: event.data })
    if (answer.kind === 'value' && answer.value === true) return { kind: 'start', trigger: filter.trigger ?? null }
    if (answer.kind === 'error')
      refused = { kind: 'suppress', reason: 'error', detail: `${filter.text}: ${answer.detail}` }
    else if (answer.value !== false)
      refused = {
        kind: 'suppress',
        reason: 'error',
        detail: `${filter.text}: gives ${JSON.stringify(answer.value)}, not true or false`,
      }
  }
  return refused
}

/** A handler is never started by a lifecycle event of its own work, however often it may occur in one chain. */
const isOwnLife = ({ type, source }: Event, { modality, name }: Listener['handler']): boolean =>
  source === lifecycleSource(modality, name) && reportedModality(type) === modality && modality !== 'human'

/** Whether the handler's flow control needs memory, so that a gate decides when it starts. */
export const hasGate = ({ handler }: Listener): boolean => handler.flow?.isStateful === true

/** Checks hops and filters, which come before all flow control. Null: the listener does not listen to events of this source. */
export const matchTrigger = (listener: Listener, event: Event, system: System): Verdict | null => {
  const { handler } = listener
  const filters = filtersFor(listener, event.source)
  if (filters.length === 0) return null
  if (isOwnLife(event, handler))
    return { kind: 'suppress', reason: 'reentry', detail: `${handler.name} sent this event itself` }
  const admission = admit(event, handler.name, { maxHops: system.maxHops, allowReentry: handler.allowReentry })
  if (admission.kind === 'suppressed') return { kind: 'suppress', reason: admission.reason, detail: admission.detail }
  return askFilters(filters, event)
}

/** A key that fails to evaluate starts nothing, like a filter that fails (route-2). */
export const requireFor = (
  { tenant }: Pick<RouteContext, 'tenant'>,
  { handler }: Pick<Listener, 'handler'>,
  event: Event,
): ResourceClaim | Extract<Verdict, { readonly kind: 'suppress' }> => {
  try {
    return resourceClaimOf(handler, { tenant, session: null, roots: { event: eventRoot(event), payload: event.data } })
  } catch (error) {
    if (error instanceof RuleFailed) return { kind: 'suppress', reason: 'error', detail: error.message }
    throw error
  }
}

/** `index` is the event's place in the append that will contain it. */
export const route = (context: RouteContext, event: Event, index: number): Routed => {
  const runs: NewRun[] = []
  const suppressed: Suppression[] = []
  for (const listener of context.system.listeners.get(event.type) ?? []) {
    // The gate receives the event by itself, and decides what becomes of it.
    if (hasGate(listener)) continue
    const verdict = matchTrigger(listener, event, context.system)
    if (verdict === null) continue
    const found = verdict.kind === 'start' ? requireFor(context, listener, event) : verdict
    if ('reason' in found) {
      suppressed.push({ trigger: listener.handler.name, reason: found.reason, detail: found.detail })
      continue
    }
    const { system, tenant, now } = context
    runs.push(
      newRun(context, {
        definition: listener.handler,
        systemHash: system.hash,
        tenant,
        now,
        input: { kind: 'event' },
        cause: null,
        event: { event, index },
        session: null,
        parent: null,
        resourceClaim: found,
        lease: leaseFor(found, () => context.reserve(listener.handler.name)),
      }),
    )
  }
  return { runs, suppressed }
}
