/**
 * Arrivals gathered into one run: a window per key opens with the first, takes in others, and fires at an instant or when full.
 *
 * Owns what joining means. The policy says how long a window stays open and how much it holds (debounce.ts, batch.ts).
 */
import { type Arrival, type Candidate, candidateOf, eventOf, withoutEvent } from '#model/event/arrival.ts'
import { type DueMap, dueAtOf, put, remove, valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'

export interface Window {
  readonly candidate: Candidate
  readonly openedAt: Instant
  /** The latest `event.time` inside. */
  readonly newestAt: Instant
  readonly bytes: number
}

/** A window falls due when it fires. */
export type Windows = DueMap<Window>

/** How a policy gathers. */
export interface Gathering {
  /** A newer arrival is added to the list, or replaces the one that is in the window. */
  readonly take: 'add' | 'replace'
  readonly maxSize: number
  readonly maxBytes: number
  readonly firesAt: (openedAt: Instant, now: Instant) => Instant
  /** The window is complete and fires at once. Absent: never. */
  readonly isComplete?: (window: Window) => boolean
}

/** `open` also closes a window that is open under that key: it is due, or has no room. */
export interface GatherVerdict {
  readonly kind: 'open' | 'join'
  readonly firesAt: Instant
}

interface OpenWindow {
  readonly window: Window
  readonly firesAt: Instant
}

export const openAt = (windows: Windows, key: string): OpenWindow | null => {
  const window = valueAt(windows, key)
  return window === undefined ? null : { window, firesAt: dueAtOf(windows, key) ?? window.openedAt }
}

export const isFull = ({ maxSize, maxBytes, isComplete }: Gathering, window: Window): boolean =>
  window.candidate.events.length >= maxSize || window.bytes >= maxBytes || isComplete?.(window) === true

/** Older than the event in the window: it neither replaces nor extends. */
export const isLate = (gathering: Gathering, open: OpenWindow | null, arrival: Arrival, now: Instant): boolean =>
  gathering.take === 'replace' && open !== null && open.firesAt > now && arrival.time < open.window.newestAt

export const judgeGather = (
  gathering: Gathering,
  open: OpenWindow | null,
  arrival: Arrival,
  now: Instant,
): GatherVerdict => {
  const hasRoom = gathering.take === 'replace' || (open?.window.bytes ?? 0) + arrival.bytes <= gathering.maxBytes
  return open !== null && open.firesAt > now && hasRoom
    ? { kind: 'join', firesAt: gathering.firesAt(open.window.openedAt, now) }
    : { kind: 'open', firesAt: gathering.firesAt(now, now) }
}

export const windowOf = (run: RunId, arrival: Arrival, take: Gathering['take'], now: Instant): Window => ({
  candidate: candidateOf(run, arrival, take === 'add' ? 'events' : 'event'),
  openedAt: now,
  newestAt: arrival.time,
  bytes: arrival.bytes,
})

export const joinWindow = (window: Window, arrival: Arrival, take: Gathering['take']): Window => {
  const { candidate } = window
  const newestAt = Math.max(window.newestAt, arrival.time)
  return take === 'replace'
    ? { ...window, newestAt, candidate: candidateOf(candidate.run, arrival, 'event'), bytes: arrival.bytes }
    : {
        ...window,
        newestAt,
        candidate: { ...candidate, events: [...candidate.events, eventOf(arrival)] },
        bytes: window.bytes + arrival.bytes,
      }
}

/** Removes one event, and the window with its last event. The event's bytes stay counted: a window may fire early, but is never too large. */
export const withdrawFromWindow = (windows: Windows, key: string, sequence: number): Windows => {
  const open = openAt(windows, key)
  if (open === null) return windows
  const candidate = withoutEvent(open.window.candidate, sequence)
  return candidate === null ? remove(windows, key) : put(windows, key, { ...open.window, candidate }, open.firesAt)
}
