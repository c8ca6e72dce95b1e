/**
 * Events of several types that belong together become one run: when all have come, or with those that have come when the time is up.
 *
 * Owns when a group is complete, and what happens to a second event of one type. A group is a window (window.ts) per key, opened by the member
 * that comes first.
 *
 * fan-in-1  A group starts one run: with all its members, or at its time-out if its primary member has come; else it starts none.
 * fan-in-2  After a group is complete, the next member opens a new one.
 */
import type { Arrival, Candidate, CandidateEvent } from '#model/event/arrival.ts'
import type { Gathering } from './window.ts'

export interface FanInPolicy {
  readonly primary: string
  /** Every member, the primary one included. */
  readonly types: readonly string[]
  /** Counted from the first member. */
  readonly timeoutMs: number
  readonly collect: 'first' | 'last' | 'all'
}

const MAX_EVENTS = 1_000
const MAX_BYTES = 10 * 1024 * 1024

const hasAll = (types: readonly string[], { events }: Candidate): boolean =>
  types.every((type) => events.some(({ member }) => member === type))

export const fanInGathering = ({ types, timeoutMs }: FanInPolicy): Gathering => ({
  take: 'add',
  maxSize: MAX_EVENTS,
  maxBytes: MAX_BYTES,
  firesAt: (openedAt) => openedAt + timeoutMs,
  isComplete: ({ candidate }) => hasAll(types, candidate),
})

/** Returns the event of the same type that is in the group already. */
export const twinOf = ({ events }: Candidate, { member }: Arrival): CandidateEvent | undefined =>
  events.find((event) => event.member === member)

export const hasPrimary = ({ primary }: FanInPolicy, { events }: Candidate): boolean =>
  events.some(({ member }) => member === primary)
