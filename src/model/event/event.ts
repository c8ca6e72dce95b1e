/**
 * An event: a named fact with data, and where in a chain of causes it stands.
 *
 * Owns the attributes and the rules of names. Never decides who listens (trigger.ts).
 */
import { type Instant, isPlainText, type TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

/** Where something comes from. Hops count machine steps since the last outside cause; chain names the triggers so far. */
export interface Cause {
  readonly correlationId: string
  readonly causationId: string | null
  readonly traceparent: string | null
  readonly hops: number
  readonly chain: readonly string[]
  /** The people whose credentials began the chain; absent: none is known (requester.ts). */
  readonly requesters?: readonly string[]
}

export interface Event extends Cause {
  readonly id: string
  readonly tenant: TenantId
  readonly source: string
  readonly type: string
  readonly subject: string | null
  readonly time: Instant
  readonly data: Json
}

/** An event that the ledger holds. Sequence orders events; it is not the order of commits on a shared store. */
export interface StoredEvent extends Event {
  readonly sequence: number
  /** Why its data cannot be used; then `data` is null, no wait takes it, and no run works on it. */
  readonly broken?: string
}

/**
 * An event at its place. Every member by name: a copy made by spreading has a shape of its own, and every run keeps the event that
 * started it.
 */
export const stored = (event: Event, sequence: number): StoredEvent =>
  event.requesters === undefined
    ? plainStored(event, sequence)
    : { ...plainStored(event, sequence), requesters: event.requesters }

const plainStored = (event: Event, sequence: number): StoredEvent => ({
  sequence,
  id: event.id,
  tenant: event.tenant,
  source: event.source,
  type: event.type,
  subject: event.subject,
  time: event.time,
  data: event.data,
  correlationId: event.correlationId,
  causationId: event.causationId,
  traceparent: event.traceparent,
  hops: event.hops,
  chain: event.chain,
})

const TYPE = /^[a-z][a-z0-9_-]*([./][a-z0-9_-]+)*$/
const RESERVED = ['agent.', 'human.', 'workflow.', 'approval_bundle.', 'trihand.']
const MAX_TYPE_LENGTH = 128

export const isEventType = (text: string): boolean => text.length <= MAX_TYPE_LENGTH && TYPE.test(text)
const PEOPLE_SOURCE = 'human:'
const OWN_SOURCE = /^(trihand$|(agent|workflow|run|schedule|queue):)/
/**
 * Whether a sender may not use a source. Under its own sources the system chooses ids that others could take before it; without an id of its own
 * an event is sent again under the source that it had. What people decide is never sent again.
 */
export const isReservedSource = (text: string, hasId: boolean): boolean =>
  text.startsWith(PEOPLE_SOURCE) || (hasId && OWN_SOURCE.test(text))
export const isReservedType = (text: string): boolean => RESERVED.some((prefix) => text.startsWith(prefix))

/** An id from outside. */
export const isPlainId = (text: string): boolean => isPlainText(text, 255)
