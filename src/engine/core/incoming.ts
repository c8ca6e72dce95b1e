/**
 * What callers hand to a system and get back: events, calls, on whose behalf, and receipts.
 *
 * Owns only the shapes. What is admitted is decided in intake.ts.
 */
import type { NotStarted } from '#engine/coordinators/flow-outcomes.ts'
import type { AskedBy } from '#model/access/requester.ts'
import type { Instant, RunId, SessionId } from '#model/kernel/ids.ts'
import type { DocumentWrite, Suppression } from '#ports/ledger.ts'

/** An event to send: `{ type: 'order.paid', data: { id: 17 }, id: 'shop-17', source: 'shop' }`. */
export interface IncomingEvent {
  /** Its type: lower case words joined by dots, at most 128 characters. */
  readonly type: string
  /** Its data, any JSON; checked against the schema of the type, if it declares one. Default: `{}`. */
  readonly data?: unknown
  /** Its id: an event that was sent under the same id and source counts once, however late the repeat. Default: a new id. */
  readonly id?: string
  /** Who sends it; ids are unique within a source. Default: `app`. */
  readonly source?: string
  /** What it is about: `order-17`. Default: nothing. */
  readonly subject?: string
  /** When it happened, in milliseconds since the Unix epoch; one in the future counts as now. Default: now. */
  readonly time?: number
  /** The trace that it belongs to, as W3C Trace Context writes it. Default: none. */
  readonly traceparent?: string
  /** Delay before it is sent, a duration (`30s`, `2h`, or milliseconds); it gets its id then. Default: at once. */
  readonly delay?: string | number
}

/** The answer to an event: it is on disk, with the runs that it starts. */
export interface Receipt {
  /** The id of the event. */
  readonly id: string
  /** Its place among all events of the ledger. */
  readonly sequence: number
  /** The runs that it started. */
  readonly runs: readonly RunId[]
  /** Handlers whose flow control decides later whether and when they start: `trail` returns the outcome. */
  readonly pending: readonly string[]
  /** Handlers that listen to this event and are not started by it, with the reason. */
  readonly suppressed: readonly NotStarted[]
  /** True: the event existed already; id, sequence and runs are those of the first answer. */
  readonly duplicate: boolean
  /** When a delayed event will be sent. Until then `id` is that of the run that will send it, and `sequence` is 0. */
  readonly dueAt?: Instant
}

/** A run whose id its caller has chosen: a repeated request gets the same run. */
export interface Asked {
  /** The id of the run. */
  readonly run: RunId
  /** True: the run may have been started already. */
  readonly isRepeated: boolean
}

/** How a run is started by name: `{ by: { id: 'ana', kind: 'user', groups: [] }, callbackUrl: 'https://shop.example/done' }`. */
export interface StartOptions extends AskedBy {
  /** The session whose memory the run shares. Default: none. */
  readonly session?: SessionId
  /** The run that the call starts, so that a repeated call starts it once. Default: a new run. */
  readonly asked?: Asked
  /** A signed webhook is sent to this address when the run has ended. Default: none is sent. */
  readonly callbackUrl?: string
}

/** How a part of the system starts a run. */
export interface InnerStartOptions extends StartOptions {
  /** Written with the run, or not at all. Only for a handler without a gate, because a gate starts runs by its own rules. */
  readonly documents?: (run: RunId) => readonly DocumentWrite[]
  /** A part of the system starts one of the system's own functions, which no caller may start. */
  readonly isOwn?: boolean
}

/** On whose behalf an event is sent: `{ by: { id: 'ana', kind: 'user', groups: [] } }`. */
export interface SendOptions extends AskedBy {
  /** For an event with a delay: the run that will send it, so that a repeated call sends it once. Default: a new run. */
  readonly asked?: Asked
}

/** How a source inside the system sends an event. */
export interface InnerSendOptions extends SendOptions {
  /** What the source has seen, written with the event or not at all. A repeat of the event writes nothing. */
  readonly documents?: readonly DocumentWrite[]
  /** The system itself emits the event: a reserved type is accepted. */
  readonly isOwn?: boolean
  /** The id is a digest of the delivery: other data under it was made from the same delivery, which counts once. */
  readonly idIsDigest?: boolean
}

/** Which handlers an event would start, and which not and why. Flow control may still hold a run back. */
export interface Rehearsal {
  /** The handlers that it would start. */
  readonly starts: readonly string[]
  /** The handlers that listen to it and would not start, with the reason. */
  readonly suppressed: readonly Suppression[]
}
