/**
 * The events that a run has consumed: those that its waits have received, and the ranges that a wait need not read again.
 *
 * Owns both, from the run's facts alone. Never reads events. The set grows by one entry for each event, so that loading a run costs
 * what its facts cost.
 *
 * consumed-1  An event counts once per run: what one wait has received no other wait of the run receives. The waits of `cancel_on` look at every
 *             event: one that ends the run ends it, whichever wait has received it.
 * consumed-2  A covered range holds no event that a wait on the same place could still receive.
 */
import { PersistentMap } from '#model/kernel/persistent-map.ts'
import type { Received, WaitSpec } from './wait.ts'

/** A range of events of one place, after `from` and up to `to`: every matching event in it was received. */
interface Covered {
  readonly from: number
  readonly to: number
  /** Events received since `to` was last raised. */
  readonly received: number
}

export interface Consumed {
  /** The received events by sequence. */
  readonly events: PersistentMap<number, true>
  readonly covered: PersistentMap<string, Covered>
  /** The last event that has ended the run by `cancel_on`, or that was sent before its retry; 0: none. */
  readonly endedBy: number
}

export const NOTHING_CONSUMED: Consumed = {
  events: PersistentMap.empty<number, true>(),
  covered: PersistentMap.empty<string, Covered>(),
  endedBy: 0,
}

/** After a retry the waits of `cancel_on` look only at events after these. */
export const listenAfter = (consumed: Consumed, ...sequences: readonly number[]): Consumed => ({
  ...consumed,
  endedBy: Math.max(consumed.endedBy, ...sequences),
})

/** A place is what a wait looks for: waits with the same types, match and condition look for the same events. */
type Place = Pick<WaitSpec, 'types' | 'match' | 'condition'>

const placeOf = ({ types, match, condition }: Place): string => JSON.stringify([types, match, condition ?? null])

/** An object, so that a seeded bug can replace the rule (test/chaos/sim/mutants). */
export const consumedRules = {
  /** consumed-1. */
  isFree: ({ events }: Consumed, { fresh }: Pick<WaitSpec, 'fresh'>, sequence: number): boolean =>
    fresh !== true || !events.has(sequence),
}

/** After a wait was opened: the range between its lookback and its base is covered. */
export const opened = (consumed: Consumed, spec: WaitSpec): Consumed =>
  spec.from === undefined ? consumed : { ...consumed, covered: risen(consumed.covered, spec, spec.from) }

const risen = (covered: Consumed['covered'], spec: WaitSpec, from: number): Consumed['covered'] => {
  const place = placeOf(spec)
  const known = covered.get(place)
  const isNext = known !== undefined && known.from <= from && from <= known.to
  if (isNext && spec.base <= known.to) return covered
  return covered.with(place, { from: isNext ? known.from : from, to: spec.base, received: 0 })
}

/** After a wait received these events. */
export const consume = (consumed: Consumed, spec: WaitSpec, received: readonly Received[]): Consumed => {
  let { events, covered } = consumed
  for (const { sequence } of received) events = events.with(sequence, true)
  if (spec.fresh === true) {
    const place = placeOf(spec)
    const known = covered.get(place) ?? { from: spec.from ?? spec.base, to: spec.base, received: 0 }
    covered = covered.with(place, { ...known, received: known.received + received.length })
  }
  return { ...consumed, events, covered }
}

/** Marks events as received that came with a reused result of another run. */
export const adopt = (consumed: Consumed, received: readonly Received[]): Consumed => ({
  ...consumed,
  events: received.reduce((all, { sequence }) => all.with(sequence, true), consumed.events),
})

/** A wait that is opened anew returns the events that it had received. Other waits may have skipped them, so no range is covered any more. */
export const giveBack = (consumed: Consumed, received: readonly Received[]): Consumed =>
  received.length === 0
    ? consumed
    : {
        ...consumed,
        events: received.reduce((all, { sequence }) => all.without(sequence), consumed.events),
        covered: NOTHING_CONSUMED.covered,
      }

/** After this many received events a wait asks the ledger from which sequence on the next wait need read. */
const COVER_AFTER = 16

export interface Start {
  /** Events after this one are read. */
  readonly after: number
  /** Received events of the place after `after`, as far as the run knows. */
  readonly received: number
  /** True if this read should find out the covered range. */
  readonly covers: boolean
}

/** Where a wait with this lookback starts to read (consumed-2). */
export const startOf = ({ events, covered }: Consumed, place: Place, lookback: number): Start => {
  const known = covered.size === 0 ? undefined : covered.get(placeOf(place))
  if (known === undefined || lookback < known.from || lookback > known.to)
    return { after: lookback, received: 0, covers: events.size >= COVER_AFTER }
  return { after: known.to, received: known.received, covers: known.received >= COVER_AFTER }
}
