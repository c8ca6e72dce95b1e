/**
 * What a run takes from limited resources, and how urgent it is: the handler's concurrency and priority, evaluated when the run is created.
 *
 * Owns how scope and key become the key of a slot. Free room is checked at the claim (model/flow/lane.ts), so a run that takes any slot
 * is not created with a lease.
 *
 * demand-1  Slots of two tenants are never the same, nor those of two scopes.
 * demand-2  A key that cannot be evaluated never becomes a slot that many runs share, as long as the run can still be refused.
 */
import { keyOf, numberOf, priorityOf, type Roots, RuleFailed } from '#engine/core/rule-values.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import type { Concurrency, FlowDefinition } from '#manifest/flow/flow.ts'
import { MAX_PRIORITY, NO_LIMIT, type Slot } from '#model/flow/lane.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { SessionId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export interface ResourceClaim {
  readonly slots: readonly Slot[]
  readonly priority: number
}

/** What the rules of a claim are evaluated for: tenant, session, and the data that they read. */
export interface Subject {
  readonly tenant: TenantId
  readonly session: SessionId | null
  readonly roots: Roots
}

export const NO_RESOURCE_CLAIM: ResourceClaim = { slots: [], priority: 0 }

/** For a run that is started by name: rules see its input as the payload. */
export const rootsOfInput = (input: Json): Roots => ({ event: null, payload: input })

/** Throws RuleFailed. */
export const resourceClaimOf = (definition: FunctionDefinition, subject: Subject): ResourceClaim =>
  workOut(definition, subject, (entry) => keyOf(entry.key, subject.roots, 'concurrency key'))

/** The same for a call: a key that fails becomes an error for the caller. */
export const resourceClaimOfCall = (definition: FunctionDefinition, subject: Subject): ResourceClaim => {
  try {
    return resourceClaimOf(definition, subject)
  } catch (error) {
    if (error instanceof RuleFailed) throw new TrihandError('EXPR_FAILED', `${definition.name}: ${error.message}`)
    throw error
  }
}

/** The same for a run that a coordinator has decided already: a key that fails now counts as empty, and the limit still holds. */
export const resourceClaimOfDecided = (
  definition: FunctionDefinition,
  subject: Subject,
  priority?: number,
): ResourceClaim => {
  const resourceClaim = workOut(definition, subject, ({ key }) => {
    try {
      return keyOf(key, subject.roots, 'concurrency key')
    } catch {
      return ''
    }
  })
  return priority === undefined ? resourceClaim : { ...resourceClaim, priority: inRange(priority) }
}

/** A run that takes a slot gets no lease yet: it waits in the ledger until there is room. */
export const leaseFor = ({ slots }: ResourceClaim, reserve: () => WorkerId | null): WorkerId | null =>
  slots.length > 0 ? null : reserve()

const workOut = (
  definition: FunctionDefinition,
  { tenant, session, roots }: Subject,
  textOf: (entry: Concurrency) => string,
): ResourceClaim => {
  const { flow } = definition
  if (flow === null) return NO_RESOURCE_CLAIM
  const slots = flow.concurrency.flatMap((entry): Slot[] => {
    // A run without a session has no session slot to share.
    if (entry.scope === 'session' && session === null) return []
    const { limit, weight, total } = entry
    const owner = [tenant, entry.scope, ownerOf(entry, definition, session)].join('\n')
    const own = { key: `${owner}\n${textOf(entry)}`, limit, weight }
    return total === null ? [own] : [own, { key: `${owner}\n\ntotal`, limit: total, weight }]
  })
  return {
    slots: [...slots, ...turnsOf(flow, tenant, roots)],
    priority: inRange(priorityOf(flow.rules.priority, roots)),
  }
}

/** The slots by which keys take turns. All keys that fail share one slot; a fairness slot limits no run. */
const turnsOf = ({ fairness }: FlowDefinition, tenant: TenantId, roots: Roots): readonly Slot[] => {
  if (fairness === null) return []
  const key = [tenant, 'fairness', worked(() => keyOf(fairness.key, roots, 'fairness key'), '')].join('\n')
  const weight = worked(() => numberOf(fairness.weight, roots, 'fairness weight', 1), 1)
  return [{ key, limit: NO_LIMIT, weight: 1, share: weight > 0 ? weight : 1 }]
}

const worked = <Value>(work: () => Value, otherwise: Value): Value => {
  try {
    return work()
  } catch (error) {
    if (error instanceof RuleFailed) return otherwise
    throw error
  }
}

const ownerOf = ({ scope }: Concurrency, definition: FunctionDefinition, session: SessionId | null): string => {
  const owners = {
    handler: definition.name,
    session: session ?? '',
    module: definition.placement.module ?? '',
    pool: definition.placement.pool ?? '',
    global: '',
  }
  return owners[scope]
}

/** Rounds to whole seconds, so that runs of one priority wait in one lane. */
const inRange = (priority: number): number => Math.round(Math.max(-MAX_PRIORITY, Math.min(MAX_PRIORITY, priority)))
