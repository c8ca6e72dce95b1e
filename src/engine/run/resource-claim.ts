/**
 * What a run takes from things limited, and how urgent it is: the handler's concurrency and priority, worked out at the run's birth.
 *
 * Owns how scope and key become the text of a slot. Whether there is room is asked at the claim (model/flow/lane.ts), so a run that takes
 * anything is not born with a lease.
 *
 * demand-1  Slots of two tenants are never the same, nor those of two scopes.
 * demand-2  A key that cannot be worked out is never a bucket that many share, as long as the run can still be refused.
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

/** For whom, and over what. */
export interface Subject {
  readonly tenant: TenantId
  readonly session: SessionId | null
  readonly roots: Roots
}

export const NO_RESOURCE_CLAIM: ResourceClaim = { slots: [], priority: 0 }

/** A run that is started by name: rules see what it is given as the payload. */
export const rootsOfInput = (input: Json): Roots => ({ event: null, payload: input })

/** Throws RuleFailed. */
export const resourceClaimOf = (definition: FunctionDefinition, subject: Subject): ResourceClaim =>
  workOut(definition, subject, (entry) => keyOf(entry.key, subject.roots, 'concurrency key'))

/** The same for whom there is somebody to tell. */
export const resourceClaimOfCall = (definition: FunctionDefinition, subject: Subject): ResourceClaim => {
  try {
    return resourceClaimOf(definition, subject)
  } catch (error) {
    if (error instanceof RuleFailed) throw new TrihandError('EXPR_FAILED', `${definition.name}: ${error.message}`)
    throw error
  }
}

/** The same for a run that a coordinator has decided already: a key that fails now counts as none, and the limit still holds. */
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

/** Who takes something waits for room in the ledger. */
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
    // A run without a session shares its own with nobody.
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

/** What keys take turns by. A key that fails takes them with all others that fail; it limits nobody. */
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

/** Whole seconds: runs of one priority wait in one lane. */
const inRange = (priority: number): number => Math.round(Math.max(-MAX_PRIORITY, Math.min(MAX_PRIORITY, priority)))
