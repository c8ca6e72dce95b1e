/**
 * The events that a run has consumed: which its waits have received, and up to where a wait need not look again.
 *
 * Owns both, from the run's facts alone. Never reads events. A set that grows by one entry for each event, so that loading a run costs
 * what its facts cost.
 *
 * consumed-1  An event counts once per run: what one wait has received no other wait of the run receives. The waits of `cancel_on` look at
 *             every event: one that ends the run ends it, whatever else has received it.
 * consumed-2  What is covered holds no event that a wait on the same place could still receive.
 */
import { PersistentMap } from '#model/kernel/persistent-map.ts'
import type { Received, WaitSpec } from './wait.ts'

/** Events of one place after `from` and up to `to`: each that fits was received. */
interface Covered {
  readonly from: number
  readonly to: number
  /** Events received since `to` rose. */
  readonly received: number
}

export interface Consumed {
  /** By sequence. */
  readonly events: PersistentMap<number, true>
  readonly covered: PersistentMap<string, Covered>
  /** The last event that has ended the run by `cancel_on`, or came before its retry; 0: none. */
  readonly endedBy: number
}

export const NOTHING_CONSUMED: Consumed = {
  events: PersistentMap.empty<number, true>(),
  covered: PersistentMap.empty<string, Covered>(),
  endedBy: 0,
}

/** The run is retried: the waits of `cancel_on` look at events after these. */
export const listenAfter = (consumed: Consumed, ...sequences: readonly number[]): Consumed => ({
  ...consumed,
  endedBy: Math.max(consumed.endedBy, ...sequences),
})

/** Waits with the same types, value and condition look for the same events. */
type Place = Pick<WaitSpec, 'types' | 'match' | 'condition'>

const placeOf = ({ types, match, condition }: Place): string => JSON.stringify([types, match, condition ?? null])

/** An object, so that a seeded bug can replace the rule (test/chaos/sim/mutants). */
export const consumedRules = {
  /** consumed-1. */
  isFree: ({ events }: Consumed, { fresh }: Pick<WaitSpec, 'fresh'>, sequence: number): boolean =>
    fresh !== true || !events.has(sequence),
}

/** A wait was opened: what lies between its lookback and its base is covered. */
export const opened = (consumed: Consumed, spec: WaitSpec): Consumed =>
  spec.from === undefined ? consumed : { ...consumed, covered: risen(consumed.covered, spec, spec.from) }

const risen = (covered: Consumed['covered'], spec: WaitSpec, from: number): Consumed['covered'] => {
  const place = placeOf(spec)
  const known = covered.get(place)
  const isNext = known !== undefined && known.from <= from && from <= known.to
  if (isNext && spec.base <= known.to) return covered
  return covered.with(place, { from: isNext ? known.from : from, to: spec.base, received: 0 })
}

/** A wait received these events. */
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

/** Events that came with a result of another run: they count as received here. */
export const adopt = (consumed: Consumed, received: readonly Received[]): Consumed => ({
  ...consumed,
  events: received.reduce((all, { sequence }) => all.with(sequence, true), consumed.events),
})

/** A wait that is opened anew gives back what it had received. Another wait may have left it behind, so that nothing is covered any more. */
export const giveBack = (consumed: Consumed, received: readonly Received[]): Consumed =>
  received.length === 0
    ? consumed
    : {
        ...consumed,
        events: received.reduce((all, { sequence }) => all.without(sequence), consumed.events),
        covered: NOTHING_CONSUMED.covered,
      }

/** After so many received events a wait asks the ledger from where on the next need look. */
const COVER_AFTER = 16

export interface Start {
  /** Events after this one are read. */
  readonly after: number
  /** Events of the place after `after` that the run has received, as far as it knows. */
  readonly received: number
  /** Whether this look should find out what is covered. */
  readonly covers: boolean
}

/** Where a wait with this lookback begins to read (consumed-2). */
export const startOf = ({ events, covered }: Consumed, place: Place, lookback: number): Start => {
  const known = covered.size === 0 ? undefined : covered.get(placeOf(place))
  if (known === undefined || lookback < known.from || lookback > known.to)
    return { after: lookback, received: 0, covers: events.size >= COVER_AFTER }
  return { after: known.to, received: known.received, covers: known.received >= COVER_AFTER }
}
