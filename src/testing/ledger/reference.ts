/**
 * A ledger simple enough to be trusted: every append works on a copy of everything, which is kept or discarded.
 *
 * Owns only the meaning of the port, for the histories of the suite. Deliberately slow; never used outside tests.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { ClaimableId, Instant, RunId, StreamId, WorkerId } from '#model/kernel/ids.ts'
import { at, canonical } from '#model/kernel/json.ts'
import { isEnded } from '#model/run/status.ts'
import type {
  Append,
  BeatRequest,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  NewStream,
  Outcome,
  SealedFact,
  StreamRecord,
  StreamWrite,
  WaitRow,
} from '#ports/ledger.ts'

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
type Stream = Mutable<StreamRecord> & { facts: SealedFact[] }
type Conflict = Extract<Outcome, { kind: 'conflict' }>

interface World {
  readonly streams: Stream[]
  readonly events: (StoredEvent & { readonly dataHash: string })[]
  waits: (WaitRow & { readonly stream: StreamId })[]
}

export class ReferenceLedger implements Ledger {
  #world: World = { streams: [], events: [], waits: [] }
  readonly #answers = new Map<string, Outcome>()
  readonly #beats = new Map<WorkerId, Instant>()

  async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    return batch.map((append) => this.#appendOne(append))
  }

  #appendOne(append: Append): Outcome {
    const known = this.#answers.get(append.appendId)
    if (known?.kind === 'written') return { ...known, kind: 'already_written', signalled: [] }
    const draft = structuredClone(this.#world)
    const outcome = conflictOf(draft, append) ?? apply(draft, append)
    this.#answers.set(append.appendId, outcome)
    if (outcome.kind === 'written') this.#world = draft
    return outcome
  }

  async load(streams: readonly StreamId[]): Promise<readonly (StreamRecord | null)[]> {
    return streams.map((id) => structuredClone(find(this.#world, id) ?? null))
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[]> {
    return this.#world.events.filter(
      (event) =>
        (query.types?.includes(event.type) ?? true) &&
        (query.matching?.some((match) => event.sequence > match.after && isMatch(match, event)) ?? true) &&
        event.sequence > (query.after ?? 0),
    )
  }

  async claim({ worker, now, only }: ClaimRequest): Promise<Claims> {
    const isWanted = (stream: Stream): boolean => only?.includes(stream.stream as RunId) ?? true
    const isDue = (stream: Stream): boolean => stream.lease === null && stream.wakeAt !== null && stream.wakeAt <= now
    const due = this.#world.streams.filter((stream) => isWanted(stream) && isDue(stream))
    for (const stream of due) Object.assign(stream, { lease: worker, wakeAt: null, epoch: stream.epoch + 1 })
    const claims = due.map(({ stream, tenant, version, epoch, signal }) => ({
      stream: stream as ClaimableId,
      tenant,
      version,
      epoch,
      signal,
    }))
    return { claims, nextDueAt: null }
  }

  async beat({ worker, now, ttlMs }: BeatRequest): Promise<number> {
    this.#beats.set(worker, now)
    const isSilent = (holder: WorkerId): boolean => now - (this.#beats.get(holder) ?? -Infinity) > ttlMs
    const lost = this.#world.streams.filter((stream) => stream.lease !== null && isSilent(stream.lease))
    for (const stream of lost) free(stream, now, 1)
    return lost.length
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    for (const stream of this.#world.streams) if (stream.lease === worker) free(stream, now, 0)
    this.#beats.delete(worker)
  }

  async close(): Promise<void> {}
}

const find = (world: World, id: StreamId): Stream | undefined => world.streams.find((stream) => stream.stream === id)
const last = (world: World): number => world.events.at(-1)?.sequence ?? 0

const free = (stream: Stream, now: Instant, recovered: number): void => {
  Object.assign(stream, {
    lease: null,
    wakeAt: now,
    epoch: stream.epoch + 1,
    recoveries: stream.recoveries + recovered,
  })
}

const conflictOf = (world: World, append: Append): Conflict | undefined => {
  const stale = append.writes.filter((write) => write.create === null).flatMap((write) => staleness(world, write) ?? [])
  const taken = append.events.flatMap(({ event }) => world.events.filter((known) => known.id === event.id)).at(0)
  const created = append.writes.filter((write) => write.create !== null && find(world, write.stream))
  if (stale[0] !== undefined) return stale[0]
  if (taken !== undefined) {
    const runs = world.streams
      .filter((stream) => stream.event === taken.sequence)
      .map((stream) => stream.stream as RunId)
    return { kind: 'conflict', reason: 'taken', sequence: taken.sequence, dataHash: taken.dataHash, runs }
  }
  return created.map((write) => streamConflict(world, write, 'version')).at(0)
}

const staleness = (world: World, write: StreamWrite): Conflict | undefined => {
  const stream = find(world, write.stream)
  if (stream !== undefined && write.epoch !== null && write.epoch !== stream.epoch)
    return streamConflict(world, write, 'epoch')
  return stream?.version === write.expectedVersion ? undefined : streamConflict(world, write, 'version')
}

const streamConflict = (world: World, { stream }: StreamWrite, reason: 'version' | 'epoch'): Conflict => {
  const { version = 0, epoch = 0 } = find(world, stream) ?? {}
  return { kind: 'conflict', reason, stream, version, epoch }
}

const apply = (world: World, append: Append): Outcome => {
  const sequences = append.events.map(({ event, dataHash }) => {
    world.events.push({ ...event, dataHash, sequence: last(world) + 1 })
    return last(world)
  })
  for (const write of append.writes) record(world, write, sequences)
  const awaited = world.waits
    .filter((wait) => append.events.some(({ event }) => isMatch(wait, event)))
    .map((wait) => wait.stream)
  for (const id of new Set([...awaited, ...append.signals])) signal(world, id)
  for (const { stream, opensWaits } of append.writes) {
    world.waits.push(...opensWaits.map((wait) => ({ ...wait, stream })))
    if (opensWaits.some((wait) => countAfter(world, wait) !== wait.seen)) signal(world, stream)
  }
  for (const write of append.writes) park(world, write)
  return { kind: 'written', sequences, position: last(world), signalled: [] }
}

const record = (world: World, write: StreamWrite, sequences: readonly number[]): void => {
  if (write.create !== null) world.streams.push(emptyStream(write.stream, write.create, sequences, last(world)))
  const stream = find(world, write.stream) as Stream
  stream.facts.push(...write.facts)
  stream.version = stream.facts.length
  stream.status = write.status
  stream.headHash = write.headHash
  if (write.facts.length > 0) stream.recoveries = 0
  world.waits = world.waits.filter((wait) => wait.stream !== write.stream || !write.closesWaits.includes(wait.step))
}

const emptyStream = (stream: StreamId, create: NewStream, sequences: readonly number[], position: number): Stream => {
  const event = create.event === null ? (create.sequence ?? null) : (sequences[create.event] ?? null)
  const epoch = create.lease === null ? 0 : 1
  const empty = {
    version: 0,
    signal: 0,
    status: 'queued' as const,
    wakeAt: null,
    recoveries: 0,
    headHash: '',
    bornHash: null,
    facts: [],
  }
  return { ...create, ...empty, stream, event, epoch, base: event ?? position }
}

const isMatch = (
  wait: Pick<WaitRow, 'type' | 'path' | 'value'>,
  { type, data }: Pick<StoredEvent, 'type' | 'data'>,
): boolean => {
  if (wait.type !== type) return false
  const found = at(data, wait.path)
  return wait.path === '' || (found !== undefined && canonical(found) === wait.value)
}

const countAfter = (world: World, wait: WaitRow): number =>
  world.events.filter((event) => isMatch(wait, event) && event.sequence > wait.base).length

/** Zero is before every instant of a history, so it means due at once. */
const signal = (world: World, id: StreamId): void => {
  const stream = find(world, id)
  if (stream === undefined || isEnded(stream.status)) return
  stream.signal += 1
  if (stream.lease === null) stream.wakeAt = 0
}

const park = (world: World, write: StreamWrite): void => {
  const stream = find(world, write.stream) as Stream
  if (write.release) stream.lease = null
  if (stream.lease !== null) return
  stream.wakeAt = stream.signal > write.seenSignal && !isEnded(stream.status) ? 0 : write.wakeAt
}
