/**
 * One append on the memory store: checked first, then written as a whole.
 *
 * Owns the rules of the port for one append; a batch is a sequence of appends.
 *
 * "Due at once" means the append's own instant, the largest recordedAt or createdAt in it, so that a claim made at that instant gets
 * the run. An append that records nothing, for example an event alone, has no such instant: the time of the stream's last fact is used.
 * The time of an event never counts: its sender chose it, and it may lie in the future.
 */
import { laneOf, PLAIN_LANE } from '#model/flow/lane.ts'
import type { ClaimableId, Instant, StreamId } from '#model/kernel/ids.ts'
import { isClaimable, isRunId } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import type { Append, DocumentWrite, NewStream, Outcome, StreamWrite } from '#ports/ledger.ts'
import { documentKey, type MemoryStore } from './store.ts'
import { canBeSignalled, type MemoryStream } from './stream.ts'

export const appendOne = (store: MemoryStore, append: Append): Outcome => judge(store, append) ?? write(store, append)

/** The reason why the append must not be written; null: it may be written. */
const judge = (store: MemoryStore, append: Append): Outcome | null =>
  repeated(store, append) ??
  fenced(store, append) ??
  taken(store, append) ??
  alreadyCreated(store, append) ??
  startedTwice(store, append)

const repeated = (store: MemoryStore, append: Append): Outcome | null => {
  if (!wasWritten(store, append)) return null
  return {
    kind: 'already_written',
    sequences: append.events.map(({ event }) => store.events.byIdentity(event)?.sequence ?? 0),
    position: firstPosition(store, append),
    signalled: [],
  }
}

/** Appends are all or nothing: one trace of the append proves that all of it was written (ledger-3). */
const wasWritten = (store: MemoryStore, { appendId, writes, events }: Append): boolean => {
  for (const { stream, expectedVersion, facts } of writes) {
    if (facts.length > 0 && store.streams.get(stream)?.appendIds[expectedVersion] === appendId) return true
  }
  if (events.some(({ event }) => store.events.byIdentity(event)?.appendId === appendId)) return true
  return events.length === 0 && writes.length > 0 && writes.every((one) => isReleased(store, one))
}

/** A release without new facts leaves none. Only its own holder can have released the stream at this epoch. */
const isReleased = (store: MemoryStore, { stream, expectedVersion, epoch, facts }: StreamWrite): boolean => {
  const held = store.streams.get(stream)
  return facts.length === 0 && held?.lease === null && held.facts.length === expectedVersion && held.epoch === epoch
}

/** The position when it was first written, as far as callers rely on it: the base of the runs it created. */
const firstPosition = (store: MemoryStore, { writes }: Append): number => {
  const created = writes.find((one) => one.create?.event === null && one.create.sequence === undefined)
  return (created && store.streams.get(created.stream)?.base) ?? store.events.position
}

const fenced = (store: MemoryStore, { writes }: Append): Outcome | null => {
  for (const { stream, create, expectedVersion, epoch } of writes) {
    if (create !== null) continue
    const found = store.streams.get(stream)
    const hasEpoch = epoch === null || found?.epoch === epoch
    if (hasEpoch && found?.facts.length === expectedVersion) continue
    return conflict(stream, found, found !== undefined && !hasEpoch ? 'epoch' : 'version')
  }
  return null
}

const taken = (store: MemoryStore, { events }: Append): Outcome | null => {
  for (const { event } of events) {
    const row = store.events.byIdentity(event)
    if (row === undefined) continue
    return { kind: 'conflict', reason: 'taken', sequence: row.sequence, dataHash: row.dataHash, runs: [...row.runs] }
  }
  return null
}

const alreadyCreated = (store: MemoryStore, { writes }: Append): Outcome | null => {
  for (const { stream, create } of writes) {
    const found = create === null ? undefined : store.streams.get(stream)
    if (found !== undefined) return conflict(stream, found, 'version')
  }
  return null
}

/** At most one run per event and handler: a second one is refused, no matter if the first came earlier or in the same append. */
const startedTwice = (store: MemoryStore, { writes }: Append): Outcome | null => {
  const seen = new Set<string>()
  for (const { stream, create } of writes) {
    if (create === null || !isRunId(stream)) continue
    const { event, sequence = null, handler } = create
    if (event === null && sequence === null) continue
    const name = `${event} ${sequence} ${handler}`
    const others = sequence === null ? [] : (store.events.bySequence(sequence)?.runs ?? [])
    if (seen.has(name) || others.some((run) => store.streams.get(run)?.handler === handler))
      return conflict(stream, undefined, 'version')
    seen.add(name)
  }
  return null
}

const conflict = (stream: StreamId, found: MemoryStream | undefined, reason: 'version' | 'epoch'): Outcome => ({
  kind: 'conflict',
  reason,
  stream,
  version: found?.facts.length ?? 0,
  epoch: found?.epoch ?? 0,
})

const write = (store: MemoryStore, append: Append): Outcome => {
  const now = instantOf(append)
  const signalled = new Set<ClaimableId>()
  const signal = (stream: MemoryStream): void => {
    raise(store, stream, now)
    if (isClaimable(stream.id)) signalled.add(stream.id)
  }
  const sequences = append.events.map((entry) => store.events.add(entry, append.appendId).sequence)
  const position = store.events.position
  const written = append.writes.map((one) => ({ one, stream: writeFacts(store, one, append.appendId, sequences) }))
  for (const stream of awaited(store, append)) signal(stream)
  for (const { one, stream } of written) if (openWaits(store, stream, one)) signal(stream)
  for (const { one, stream } of written) for (const id of freedFor(store, stream, one)) signalled.add(id)
  for (const { one, stream } of written)
    if (settle(store, stream, one, now) && isClaimable(stream.id)) signalled.add(stream.id)
  for (const document of append.documents) writeDocument(store, document)
  return { kind: 'written', sequences, position, signalled: [...signalled] }
}

const instantOf = ({ writes }: Append): Instant | null => {
  let latest = -Infinity
  for (const { create, facts } of writes) {
    if (create !== null) latest = Math.max(latest, create.createdAt)
    for (const { recordedAt } of facts) latest = Math.max(latest, recordedAt)
  }
  return latest === -Infinity ? null : latest
}

const dueAtOnce = (stream: MemoryStream, now: Instant | null): Instant =>
  now ?? stream.facts.at(-1)?.recordedAt ?? stream.createdAt

/** Always counts the signal, and wakes the run if it has no lease (ledger-6). */
const raise = (store: MemoryStore, stream: MemoryStream, now: Instant | null): void => {
  stream.signal += 1
  if (stream.lease !== null) return
  store.place(stream, null, Math.min(stream.wakeAt ?? Infinity, dueAtOnce(stream, now)))
}

const writeFacts = (
  store: MemoryStore,
  one: StreamWrite,
  appendId: string,
  sequences: readonly number[],
): MemoryStream => {
  const stream = store.streams.get(one.stream) ?? create(store, one, one.create as NewStream, sequences)
  for (const { type, recordedAt, body, hash } of one.facts) {
    stream.facts.push(Object.freeze({ type, recordedAt, body, hash }))
    stream.appendIds.push(appendId)
  }
  if (one.facts.length > 0) stream.recoveries = 0
  stream.headHash = one.headHash
  stream.status = one.status
  for (const step of one.closesWaits) closeWaits(store, stream, step)
  store.tasks.keep(one)
  return stream
}

const create = (store: MemoryStore, one: StreamWrite, made: NewStream, sequences: readonly number[]): MemoryStream => {
  const event = made.event === null ? (made.sequence ?? null) : (sequences[made.event] ?? null)
  const stream: MemoryStream = {
    key: store.streams.size,
    id: one.stream,
    tenant: made.tenant,
    handler: made.handler,
    systemHash: made.systemHash,
    bornHash: null,
    session: made.session,
    parent: made.parent,
    event,
    base: event ?? store.events.position,
    createdAt: made.createdAt,
    lane: laneOf(made.handler, made.priority, made.slots),
    epoch: made.lease === null ? 0 : 1,
    signal: 0,
    status: one.status,
    wakeAt: null,
    lease: null,
    recoveries: 0,
    headHash: one.headHash,
    facts: [],
    appendIds: [],
    waits: [],
  }
  store.add(stream)
  store.place(stream, made.lease, null)
  if (event !== null && isRunId(stream.id)) store.events.bySequence(event)?.runs.push(stream.id)
  return stream
}

const closeWaits = (store: MemoryStore, stream: MemoryStream, step: string): void => {
  for (const wait of stream.waits) if (wait.step === step) store.waits.remove(wait)
  stream.waits = stream.waits.filter((wait) => wait.step !== step)
}

/** The streams that this append wakes, through its events and its own list of signals. */
const awaited = (store: MemoryStore, { events, signals }: Append): MemoryStream[] => {
  const named = [...events.flatMap(({ event }) => [...store.waits.matching(event)]), ...signals]
  return named.flatMap((id) => store.streams.get(id) ?? []).filter(canBeSignalled)
}

/** Returns true if an event arrived that the writer had not seen: the wait is then signalled as if the event arrived now (ledger-5). */
const openWaits = (store: MemoryStore, stream: MemoryStream, one: StreamWrite): boolean => {
  let isLate = false
  for (const { step, type, path, value, base, seen } of one.opensWaits) {
    const wait = { tenant: stream.tenant, stream: stream.id, step, type, path, value }
    store.waits.add(wait)
    stream.waits = [...stream.waits, wait]
    const count =
      path === ''
        ? store.events.countAfter(stream.tenant, type, base)
        : store.events.countMatching(stream.tenant, { type, path, value, after: base })
    if (count !== seen) isLate = true
  }
  return isLate && canBeSignalled(stream)
}

const givesBack = ({ create, epoch, release }: StreamWrite): boolean => release && (create !== null || epoch !== null)

/** When a stream releases its slots, names a run that may wait for them: the first of the same lane, else of any other. */
const freedFor = (store: MemoryStore, stream: MemoryStream, one: StreamWrite): readonly ClaimableId[] => {
  if (stream.lane === PLAIN_LANE || !givesBack(one)) return []
  const others = store.firstOfLanes()
  const [first] = [...others.filter(({ lane }) => lane === stream.lane), ...others]
  return first !== undefined && isClaimable(first.id) ? [first.id] : []
}

/** Releases the lease if asked, and parks a stream without one. Returns true if a signal, not the writer's wake, made the run due. */
const settle = (store: MemoryStore, stream: MemoryStream, one: StreamWrite, now: Instant | null): boolean => {
  const lease = givesBack(one) ? null : stream.lease
  // The holder decides at its release; until then no other wake counts.
  if (lease !== null) return false
  const hasNewSignal = stream.signal > one.seenSignal && !isEnded(stream.status)
  const wakeAt = hasNewSignal ? Math.min(one.wakeAt ?? Infinity, dueAtOnce(stream, now)) : one.wakeAt
  store.place(stream, null, wakeAt)
  return hasNewSignal
}

const writeDocument = (store: MemoryStore, { tenant, table, key, value }: DocumentWrite): void => {
  if (value === null) store.documents.delete(documentKey(tenant, table, key))
  else store.documents.set(documentKey(tenant, table, key), JSON.stringify(value))
}
