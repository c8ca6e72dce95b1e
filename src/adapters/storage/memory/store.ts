/**
 * All data of a memory ledger, shared by the ledgers and readers on it.
 *
 * Owns the indexes and keeps them up to date: which runs are due, which worker holds which lease. It outlives its ledgers, as a database
 * does. Never checks a write (append.ts).
 */
import { PLAIN_LANE } from '#model/flow/lane.ts'
import { Heap } from '#model/kernel/heap.ts'
import type { ClaimableId, Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import { isClaimable } from '#model/kernel/ids.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import { EventLog } from './event-log.ts'
import type { MemoryStream } from './stream.ts'
import { MemoryTasks } from './tasks.ts'
import { Waits } from './waits.ts'

const isWokenBefore = (a: MemoryStream, b: MemoryStream): boolean => {
  const [first, second] = [a.wakeAt ?? Infinity, b.wakeAt ?? Infinity]
  return first === second ? a.key < b.key : first < second
}

const newQueue = (): Heap<MemoryStream> => new Heap<MemoryStream>(isWokenBefore)

type Takes = { readonly version: string; readonly may: (version: string, handler: string) => boolean } | null

type Queues = Map<string, Heap<MemoryStream>>

const addTo = (queues: Queues, name: string, stream: MemoryStream): void => {
  const queue = queues.get(name) ?? newQueue()
  queues.set(name, queue)
  queue.add(stream)
}

const removeFrom = (queues: Queues, name: string, stream: MemoryStream): void => {
  const queue = queues.get(name)
  queue?.remove(stream)
  if (queue?.size === 0) queues.delete(name)
}

export class MemoryStore {
  readonly streams = new Map<StreamId, MemoryStream>()
  readonly children = new Map<ClaimableId, MemoryStream[]>()
  readonly events: EventLog
  readonly waits = new Waits()
  readonly workers = new Map<WorkerId, { readonly beatAt: Instant; readonly info: WorkerInfo | null }>()
  /** JSON text by tenant, table and key. */
  readonly documents = new Map<string, string>()
  readonly tasks = new MemoryTasks()
  readonly #byCreation: MemoryStream[] = []
  /** Parked runs of the plain lane: all of them, and again by version and handler, because thousands of schedules have a handler each. */
  readonly #plain = newQueue()
  readonly #plainOf = new Map<string, Map<string, Heap<MemoryStream>>>()
  /** Parked runs of the other lanes; each lane has one handler. Contains no empty queue. */
  readonly #lanes = new Map<string, Heap<MemoryStream>>()
  readonly #heldInLanes = new Set<MemoryStream>()
  readonly #leased = new Map<WorkerId, Set<MemoryStream>>()

  /** `lastSequence` is for a store whose events do not begin at 1. */
  constructor(options: { readonly lastSequence?: number } = {}) {
    this.events = new EventLog(options.lastSequence ?? 0)
  }

  get byCreation(): readonly MemoryStream[] {
    return this.#byCreation
  }

  add(stream: MemoryStream): void {
    this.streams.set(stream.id, stream)
    this.#byCreation.push(stream)
    if (stream.parent === null) return
    const siblings = this.children.get(stream.parent) ?? []
    siblings.push(stream)
    this.children.set(stream.parent, siblings)
  }

  /** The only way to change a lease or a wake: both decide where the stream is found. */
  place(stream: MemoryStream, lease: WorkerId | null, wakeAt: Instant | null): void {
    this.#takeOut(stream)
    stream.lease = lease
    stream.wakeAt = wakeAt
    if (lease !== null) this.#leasedTo(lease).add(stream)
    else if (wakeAt !== null && isClaimable(stream.id)) this.#park(stream)
    if (lease !== null && stream.lane !== PLAIN_LANE) this.#heldInLanes.add(stream)
  }

  /**
   * Returns the queues of parked runs of these handlers, or of all, each in the order of wakes. Never contains a session. `takes` selects
   * runs by version and handler; a queue of a lane has one handler and may have runs of several versions.
   */
  queues(handlers: readonly string[] | null = null, takes: Takes = null): readonly Heap<MemoryStream>[] {
    const isOfTaker = takes === null || [...this.#plainOf.keys()].every((version) => version === takes.version)
    const lanes = [...this.#lanes.values()]
    if (handlers === null && isOfTaker) return [this.#plain, ...lanes]
    const plain = [...this.#plainOf].flatMap(([version, queues]) =>
      (handlers ?? [...queues.keys()]).flatMap((handler) =>
        takes === null || takes.may(version, handler) ? (queues.get(handler) ?? []) : [],
      ),
    )
    const own = handlers === null ? lanes : lanes.filter((queue) => handlers.includes(queue.first()?.handler ?? ''))
    return [...plain, ...own]
  }

  /** The first run to wake of every lane except the plain one. */
  firstOfLanes(): readonly MemoryStream[] {
    return [...this.#lanes.values()].flatMap((queue) => queue.first() ?? [])
  }

  /** The parked run that wakes first, over all queues. */
  nextParked(): MemoryStream | undefined {
    const firsts = this.queues().flatMap((queue) => queue.first() ?? [])
    return firsts.reduce<MemoryStream | undefined>(
      (a, b) => (a !== undefined && isWokenBefore(a, b) ? a : b),
      undefined,
    )
  }

  /** The runs with a lease that are not in the plain lane. */
  heldInLanes(): Iterable<MemoryStream> {
    return this.#heldInLanes
  }

  leasedBy(worker: WorkerId): readonly MemoryStream[] {
    return [...(this.#leased.get(worker) ?? [])]
  }

  holders(): readonly WorkerId[] {
    return [...this.#leased.keys()]
  }

  forget(worker: WorkerId): void {
    this.workers.delete(worker)
    this.#leased.delete(worker)
  }

  #takeOut(stream: MemoryStream): void {
    if (stream.lease !== null) this.#leased.get(stream.lease)?.delete(stream)
    this.#heldInLanes.delete(stream)
    this.#plain.remove(stream)
    const ofVersion = this.#plainOf.get(stream.systemHash)
    if (ofVersion !== undefined) removeFrom(ofVersion, stream.handler, stream)
    if (ofVersion?.size === 0) this.#plainOf.delete(stream.systemHash)
    removeFrom(this.#lanes, stream.lane, stream)
  }

  #park(stream: MemoryStream): void {
    if (stream.lane !== PLAIN_LANE) return addTo(this.#lanes, stream.lane, stream)
    this.#plain.add(stream)
    const ofVersion = this.#plainOf.get(stream.systemHash) ?? new Map<string, Heap<MemoryStream>>()
    this.#plainOf.set(stream.systemHash, ofVersion)
    addTo(ofVersion, stream.handler, stream)
  }

  #leasedTo(worker: WorkerId): Set<MemoryStream> {
    const held = this.#leased.get(worker) ?? new Set<MemoryStream>()
    this.#leased.set(worker, held)
    return held
  }
}

export const documentKey = (tenant: string, table: string, key: string): string => `${tenant}\n${table}\n${key}`
