/**
 * Waiting for events: what a wait looks for, which events count, and when it is over.
 *
 * Owns matching and completion. Never reads events: candidates and the results of rules arrive as arguments.
 *
 * wait-1  An event counts once per wait, in ledger order; events at or before `base` never count.
 * wait-2  `any` is over with its first event, `all` with one event of each type; a timeout ends either, with what was received so far.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { at, canonical } from '#model/kernel/json.ts'
import type { StoredEvent } from './event.ts'

export interface WaitSpec {
  readonly mode: 'any' | 'all'
  readonly types: readonly string[]
  /** The event's data must hold this canonical value at this path; null: no such condition. */
  readonly match: { readonly path: string; readonly value: string } | null
  /** CEL text, compiled and evaluated by the engine. Absent: no such condition; null, if an older version opened the wait. */
  readonly condition?: string | null
  readonly timeoutAt: Instant | null
  readonly base: number
  /** Events that the run has received before do not count. Absent: a wait of `cancel_on`, or one that an older version opened. */
  readonly fresh?: true
  /** Where its lookback began; absent: at `base`. The run has received every event from there to `base` that this wait could receive. */
  readonly from?: number
  /** It receives at most this many events at once, all that are available. Absent: one. Only in mode `any`. */
  readonly most?: number
}

export interface Received {
  readonly type: string
  readonly sequence: number
}

export interface OpenWait {
  readonly spec: WaitSpec
  readonly received: readonly Received[]
}

export const openWait = (spec: WaitSpec): OpenWait => ({ spec, received: [] })

/** wait-1: after the base, of a type that is still missing, and not counted before. */
const counts = ({ spec, received }: OpenWait, event: Received): boolean => {
  if (event.sequence <= spec.base || !spec.types.includes(event.type)) return false
  if (received.some((earlier) => earlier.sequence === event.sequence)) return false
  return spec.mode === 'any' || !received.some((earlier) => earlier.type === event.type)
}

/** True if the event counts and its data matches. A CEL condition is evaluated separately. */
export const fits = (wait: OpenWait, event: StoredEvent): boolean => {
  if (!counts(wait, event) || event.broken !== undefined) return false
  const { match } = wait.spec
  if (match === null) return true
  const found = at(event.data, match.path)
  return found !== undefined && canonical(found) === match.value
}

export const receive = (wait: OpenWait, ...received: readonly Received[]): OpenWait => ({
  ...wait,
  received: [...wait.received, ...received],
})

/** The events that an open wait receives together, from candidates in ledger order. */
export const receivable = (wait: OpenWait, candidates: readonly Received[]): readonly Received[] => {
  const fitting = candidates.filter((event) => counts(wait, event))
  return fitting.slice(0, wait.spec.most ?? 1)
}

export const missing = (wait: OpenWait): readonly string[] =>
  wait.spec.types.filter((type) => !wait.received.some((received) => received.type === type))

/** wait-2 without the timeout, which the run handles. */
export const isOver = (wait: OpenWait): boolean =>
  wait.spec.mode === 'any' ? wait.received.length > 0 : missing(wait).length === 0
