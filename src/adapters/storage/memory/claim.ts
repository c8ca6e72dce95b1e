/**
 * Chooses the runs that a claim gets: those that are due, of the requested handlers, as far as their slots have room.
 *
 * Owns the search. Order and room are defined in the model (lane.ts); ledger.ts gives the lease.
 */
import { choose, Occupancy, PLAIN_LANE, readLane } from '#model/flow/lane.ts'
import type { Heap } from '#model/kernel/heap.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { mayTake } from '#model/worker/pin.ts'
import type { ClaimRequest } from '#ports/ledger.ts'
import type { MemoryStore } from './store.ts'
import type { MemoryStream } from './stream.ts'

export interface Found {
  readonly chosen: readonly MemoryStream[]
  /** The wake of the first run that only the limit left out. */
  readonly left: Instant | null
}

export const findClaimable = (store: MemoryStore, request: ClaimRequest): Found => {
  const occupancy = new Occupancy([...store.heldInLanes()].map(({ lane }) => ({ lane, count: 1 })))
  const due =
    request.only === undefined ? firstOfQueues(store, request, occupancy) : named(store, request, request.only)
  const items = due.map((stream) => ({ stream, lane: stream.lane, wakeAt: stream.wakeAt ?? 0, key: stream.key }))
  const { chosen, left } = choose(items, occupancy, request.limit)
  return { chosen: chosen.map(({ stream }) => stream), left: left?.wakeAt ?? null }
}

/** Called after the chosen runs have their leases. */
export const nextDueAt = (store: MemoryStore, request: ClaimRequest, left: Instant | null): Instant | null => {
  const next = queuesOf(store, request).map((queue) => wakeOf(queue, request.now))
  const earliest = Math.min(left ?? Infinity, ...next)
  return earliest === Infinity ? null : earliest
}

/** Includes the queues of other versions if the taker may take over their runs after a while (pin-2). */
const queuesOf = (store: MemoryStore, { handlers, taker }: ClaimRequest): ReturnType<MemoryStore['queues']> =>
  taker === undefined
    ? store.queues(handlers)
    : store.queues(handlers, {
        version: taker.version,
        may: (version, handler) =>
          version === taker.version || (taker.takesOver?.some((one) => one.handler === handler) ?? false),
      })

const firstOfQueues = (store: MemoryStore, request: ClaimRequest, occupancy: Occupancy): readonly MemoryStream[] =>
  queuesOf(store, request).flatMap((queue) => {
    const room = occupancy.roomIn(readLane(queue.first()?.lane ?? ''))
    return firstDue(store, queue, request, Math.min(room, request.limit + 1))
  })

/** Removes runs from the queue to reach those behind them, and puts them back. */
const firstDue = (
  store: MemoryStore,
  queue: Heap<MemoryStream>,
  request: ClaimRequest,
  count: number,
): readonly MemoryStream[] => {
  const seen: MemoryStream[] = []
  const due: MemoryStream[] = []
  for (let next = queue.first(); next !== undefined && due.length < count && isDue(next, request.now); ) {
    seen.push(next)
    if (isTaken(store, request, next)) due.push(next)
    queue.remove(next)
    next = queue.first()
  }
  for (const stream of seen) queue.add(stream)
  return due
}

const isTaken = (store: MemoryStore, { taker, now }: ClaimRequest, stream: MemoryStream): boolean => {
  if (taker === undefined) return true
  const living = [...store.workers.values()].flatMap(({ info }) => info ?? [])
  const { handler, systemHash: version, wakeAt } = stream
  return mayTake({ handler, version, wakeAt: wakeAt ?? 0 }, taker, { now, living })
}

const named = (
  store: MemoryStore,
  request: ClaimRequest,
  only: readonly MemoryStream['id'][],
): readonly MemoryStream[] => {
  const { now, handlers = null } = request
  return [...new Set(only)]
    .flatMap((id) => store.streams.get(id) ?? [])
    .filter((stream) => isDue(stream, now) && (handlers?.includes(stream.handler) ?? true))
    .filter((stream) => isTaken(store, request, stream))
}

const isDue = (stream: MemoryStream, now: Instant): boolean =>
  stream.lease === null && stream.wakeAt !== null && stream.wakeAt <= now

/** A run that is due in a lane waits for room, not for time; if only the limit left it out, `left` covers it. */
const wakeOf = (queue: Heap<MemoryStream>, now: Instant): Instant => {
  const first = queue.first()
  if (first === undefined) return Infinity
  if (first.lane === PLAIN_LANE) return first.wakeAt ?? Infinity
  const later = queue.items().filter((stream) => !isDue(stream, now))
  return Math.min(...later.map(({ wakeAt }) => wakeAt ?? Infinity))
}
