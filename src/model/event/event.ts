/**
 * An event: a type with data, and its place in a chain of causes.
 *
 * Owns the attributes and the rules of names. Never decides which handler it starts (trigger.ts).
 */
import { type Instant, isPlainText, type TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

/** The cause of something. `hops` counts machine steps since the last outside cause; `chain` names the handlers so far. */
export interface Cause {
  /** The id of the first event of its chain of causes. */
  readonly correlationId: string
  /** The id of what caused it; null: it began the chain. */
  readonly causationId: string | null
  /** The trace that it belongs to, as W3C Trace Context writes it; null: none. */
  readonly traceparent: string | null
  /** How many machine steps lie between it and the last cause from outside. */
  readonly hops: number
  /** The names of the handlers that led to it, in their order. */
  readonly chain: readonly string[]
  /** The people whose credentials began the chain; absent: none is known (requester.ts). */
  readonly requesters?: readonly string[]
}

/** An event: a type with data, and where it came from. */
export interface Event extends Cause {
  /** Its id, unique within its source. */
  readonly id: string
  /** The tenant that it belongs to. */
  readonly tenant: TenantId
  /** Who sent it: `app`, `webhook:stripe`. */
  readonly source: string
  /** Its type: `order.paid`. */
  readonly type: string
  /** What it is about; null: nothing named. */
  readonly subject: string | null
  /** When it happened, in milliseconds since the Unix epoch. */
  readonly time: Instant
  /** Its data. */
  readonly data: Json
}

/** An event that the ledger holds. `sequence` orders events; on a shared store it is not the order of commits. */
export interface StoredEvent extends Event {
  /** Its place among all events of the ledger. */
  readonly sequence: number
  /** Why its data cannot be used; then `data` is null, no wait receives it, and no run works on it. */
  readonly broken?: string
}

/**
 * An event with its sequence. Every member is named, because a copy made by spreading has a hidden class of its own, and every run keeps the event
 * that started it.
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
 * True if a sender may not use the source. Under its own sources the system chooses ids that others could occupy first. An event that is sent
 * without an id can be replayed under its old source; an event of people's decisions is never replayed.
 */
export const isReservedSource = (text: string, hasId: boolean): boolean =>
  text.startsWith(PEOPLE_SOURCE) || (hasId && OWN_SOURCE.test(text))
export const isReservedType = (text: string): boolean => RESERVED.some((prefix) => text.startsWith(prefix))

/** True for an acceptable id from outside. */
export const isPlainId = (text: string): boolean => isPlainText(text, 255)
