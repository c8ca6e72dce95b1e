/**
 * Lanes: runs of one handler with the same slots and the same priority wait in one lane, the oldest wake first.
 *
 * Owns the order of the runs that are due. Never knows where they wait: each store keeps the lane's text with the run, finds the first run of
 * every lane, and counts the live leases by lane.
 *
 * lane-1  A slot is never taken beyond its limit: the weights of the runs that hold a lease, plus the next one's, stay within it.
 * lane-2  Runs that compete for slots take turns: the run that shares its slots with the fewest holders goes first, then the longest wait. A
 *         share of n gets n turns where a share of one gets one.
 * lane-3  A wait counts `priority` seconds longer than it is. So no waiting run is passed forever.
 */
import type { Instant } from '#model/kernel/ids.ts'

/** A part of something limited that a run takes while it holds a lease. The key names what is shared. */
export interface Slot {
  readonly key: string
  readonly limit: number
  readonly weight: number
  /** How many turns its holders get for one turn of others. Absent: 1. */
  readonly share?: number
}

/** The limit of a slot that exists only for taking turns, and is never full. */
export const NO_LIMIT = 1_000_000_000

export interface Lane {
  readonly handler: string
  /** Seconds. */
  readonly priority: number
  readonly slots: readonly Slot[]
  /** The slots as a text: runs with the same text, whatever their handler and priority, take turns. */
  readonly circle: string
  readonly share: number
}

/** Seconds, positive or negative. */
export const MAX_PRIORITY = 86_400

/** The lane of runs of any handler without slots and priority. */
export const PLAIN_LANE = ''

export const laneOf = (handler: string, priority = 0, slots: readonly Slot[] = []): string =>
  priority === 0 && slots.length === 0 ? PLAIN_LANE : JSON.stringify([handler, priority, ...slots.map(textOf)])

const textOf = ({ key, limit, weight, share }: Slot): readonly (string | number)[] =>
  share === undefined ? [key, limit, weight] : [key, limit, weight, share]

const PLAIN: Lane = { handler: '', priority: 0, slots: [], circle: '', share: 1 }

type SlotText = readonly [key: string, limit: number, weight: number, share?: number]

export const readLane = (text: string): Lane => {
  if (text === PLAIN_LANE) return PLAIN
  const [handler, priority, ...rest] = JSON.parse(text) as [string, number, ...SlotText[]]
  const slots = rest.map(([key, limit, weight, share]) => ({
    key,
    limit,
    weight,
    ...(share !== undefined && { share }),
  }))
  const shares = slots.flatMap(({ share }) => share ?? [])
  return { handler, priority, slots, circle: JSON.stringify(rest), share: shares[0] ?? 1 }
}

/** The number of live leases in a lane. */
export interface LeaseCount {
  readonly lane: string
  readonly count: number
}

/** The slots that the live leases have taken. */
export class Occupancy {
  readonly #taken = new Map<string, number>()
  readonly #circles = new Map<string, number>()

  constructor(held: Iterable<LeaseCount>) {
    for (const { lane, count } of held) this.take(readLane(lane), count)
  }

  take(lane: Lane, count = 1): void {
    for (const { key, weight } of lane.slots) this.#taken.set(key, (this.#taken.get(key) ?? 0) + count * weight)
    this.#circles.set(lane.circle, this.sharing(lane) + count)
  }

  /** Returns how many more of this lane's runs could hold a lease. */
  roomIn({ slots }: Lane): number {
    const rooms = slots.map(({ key, limit, weight }) => (limit - (this.#taken.get(key) ?? 0)) / weight)
    return Math.max(0, Math.floor(Math.min(Infinity, ...rooms)))
  }

  /** Returns how many leases hold exactly these slots. */
  sharing({ circle }: Lane): number {
    return this.#circles.get(circle) ?? 0
  }
}

/** A run that is due. `key` rises with its creation. */
export interface Due {
  readonly lane: string
  readonly wakeAt: Instant
  readonly key: number | string
}

interface Ranked<Item> {
  readonly item: Item
  readonly lane: Lane
  readonly rank: number
}

const rank = <Item extends Due>(item: Item): Ranked<Item> => {
  const lane = readLane(item.lane)
  return { item, lane, rank: item.wakeAt - lane.priority * 1000 }
}

const byRank = <Item extends Due>(a: Ranked<Item>, b: Ranked<Item>): number =>
  a.rank - b.rank || (a.item.key < b.item.key ? -1 : 1)

const isBound = ({ lane }: Ranked<Due>): boolean => lane.slots.length > 0

/**
 * Returns at most `limit` of the runs in their order, and the first that waits only because of the limit. For each lane it is enough to pass as
 * many runs as it has room for, and at most one more than the limit.
 */
export const choose = <Item extends Due>(
  due: readonly Item[],
  occupancy: Occupancy,
  limit: number,
): { readonly chosen: readonly Item[]; readonly left: Item | null } => {
  const ranked = due.map(rank).sort(byRank)
  const free = ranked.filter((one) => !isBound(one))
  const line = merge(free, admitted(ranked.filter(isBound), occupancy))
  return { chosen: line.slice(0, limit), left: line[limit] ?? null }
}

/** lane-1 and lane-2. */
const admitted = <Item extends Due>(ranked: readonly Ranked<Item>[], occupancy: Occupancy): readonly Ranked<Item>[] => {
  const turns = new Map<string, number>()
  const inTurn = ranked.map((one) => {
    const turn = turns.get(one.lane.circle) ?? occupancy.sharing(one.lane)
    turns.set(one.lane.circle, turn + 1)
    return { ...one, turn: (turn + 1) / one.lane.share }
  })
  inTurn.sort((a, b) => a.turn - b.turn || byRank(a, b))
  return inTurn.filter(({ lane }) => {
    const fits = occupancy.roomIn(lane) > 0
    if (fits) occupancy.take(lane)
    return fits
  })
}

/** Merges two sorted lists; of their first runs, the one that has waited longer comes next. */
const merge = <Item extends Due>(free: readonly Ranked<Item>[], bound: readonly Ranked<Item>[]): readonly Item[] => {
  const line: Item[] = []
  let [i, j] = [0, 0]
  while (i < free.length || j < bound.length) {
    const [one, other] = [free[i], bound[j]]
    const isFreeNext = other === undefined || (one !== undefined && byRank(one, other) < 0)
    if (isFreeNext) i++
    else j++
    line.push((isFreeNext ? one : other)?.item as Item)
  }
  return line
}
