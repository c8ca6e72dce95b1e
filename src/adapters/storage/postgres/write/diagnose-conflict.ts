/**
 * Finds out why an append lost, after the statement, by reading what is stored in its place.
 *
 * Owns the outcomes other than `written`. Reads only. The data that it reads never goes back (versions and epochs rise, facts and events
 * stay), so that an outcome is true though time has passed since the append was refused.
 */
import { type Columns, toArrays, unnest } from '#adapters/storage/postgres/columns.ts'
import type { Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { toStreamId, toUuid, versionOf } from '#adapters/storage/postgres/rows.ts'
import type { Event } from '#model/event/event.ts'
import type { RunId, StreamId } from '#model/kernel/ids.ts'
import { runId } from '#model/kernel/ids.ts'
import type { Append, Outcome, StreamWrite } from '#ports/ledger.ts'
import { LAST_SEQUENCE } from './append-sql.ts'

interface FoundStream {
  readonly id: string
  readonly kind: number
  readonly version: number
  readonly epoch: number
  readonly base: number
  readonly is_leased: boolean
}

interface FoundFact {
  readonly place: number
  readonly append_id: string
}

interface FoundEvent {
  readonly ord: number
  readonly seq: number
  readonly data_hash: string
  readonly append_id: string
  readonly runs: readonly string[]
}

interface FoundPosition {
  readonly at: number
}

const ADDRESS = { place: 'int', stream: 'uuid', seq: 'bigint' } as const satisfies Columns
const IDENTITY = { ord: 'int', tenant: 'text', source: 'text', id: 'text' } as const satisfies Columns

const STREAMS: Statement = {
  name: 'judge_streams',
  text: `select id, kind, ${versionOf('stream')} as version, epoch, base, lease is not null as is_leased from stream where id = any($1::uuid[])`,
}
const FACTS: Statement = {
  name: 'judge_facts',
  text: `select address.place, f.append_id from ${unnest('address', ADDRESS, 1)},
    lateral (select f.append_id from fact f where f.stream = address.stream and f.seq = address.seq offset 0) f`,
}
const EVENTS: Statement = {
  name: 'judge_events',
  text: `select identity.ord, e.seq, e.data_hash, e.append_id,
      array(select s.id::text from stream s where s.event = e.seq) as runs
    from ${unnest('identity', IDENTITY, 1)}, lateral (
      select * from event e where e.id = identity.id and e.source = identity.source and e.tenant = identity.tenant offset 0) e`,
}
const POSITION: Statement = { name: 'judge_position', text: LAST_SEQUENCE }

/** What is stored in the places that the lost appends wanted. */
interface Evidence {
  readonly streams: ReadonlyMap<StreamId, FoundStream>
  /** The append whose fact is stored where a write wanted to begin. */
  readonly writers: ReadonlyMap<StreamWrite, string>
  readonly events: ReadonlyMap<Event, FoundEvent>
  readonly position: number
}

export const diagnoseConflicts = async (database: Database, lost: readonly Append[]): Promise<readonly Outcome[]> => {
  if (lost.length === 0) return []
  const evidence = await gather(database, lost)
  return lost.map(
    (append) =>
      repeated(append, evidence) ?? fenced(append, evidence) ?? taken(append, evidence) ?? overtaken(append, evidence),
  )
}

const gather = async (database: Database, lost: readonly Append[]): Promise<Evidence> => {
  const writes = lost.flatMap((append) => append.writes)
  const events = lost.flatMap((append) => append.events.map(({ event }) => event))
  const addresses = writes.map(({ stream, expectedVersion }, place) => ({
    place,
    stream: toUuid(stream),
    seq: expectedVersion,
  }))
  const identities = events.map(({ tenant, source, id }, ord) => ({ ord, tenant, source, id }))
  const [streams, facts, known, position] = (await database.queries([
    { statement: STREAMS, values: [addresses.map(({ stream }) => stream)] },
    { statement: FACTS, values: toArrays(ADDRESS, addresses) },
    { statement: EVENTS, values: toArrays(IDENTITY, identities) },
    { statement: POSITION, values: [] },
  ])) as unknown as [FoundStream[], FoundFact[], FoundEvent[], FoundPosition[]]
  return {
    streams: new Map(streams.map((row) => [toStreamId(row), row])),
    writers: new Map(facts.map((row) => [writes[row.place] as StreamWrite, row.append_id])),
    events: new Map(known.map((row) => [events[row.ord] as Event, row])),
    position: position[0]?.at ?? 0,
  }
}

/** Appends are all or nothing: one trace of the append proves that all of it was written (ledger-3). */
const repeated = (append: Append, evidence: Evidence): Outcome | null => {
  const { appendId, writes, events } = append
  const isWriter = writes.some((one) => one.facts.length > 0 && evidence.writers.get(one) === appendId)
  const isSource = events.some(({ event }) => evidence.events.get(event)?.append_id === appendId)
  const isReleaser = events.length === 0 && writes.every((one) => isReleased(one, evidence))
  if (!isWriter && !isSource && !isReleaser) return null
  const sequences = events.map(({ event }) => evidence.events.get(event)?.seq ?? 0)
  return { kind: 'already_written', sequences, position: firstPosition(append, evidence), signalled: [] }
}

/** A release without new facts leaves none. Only its own holder can have released the stream at this epoch. */
const isReleased = ({ stream, expectedVersion, epoch, facts }: StreamWrite, { streams }: Evidence): boolean => {
  const found = streams.get(stream)
  return facts.length === 0 && found?.is_leased === false && found.version === expectedVersion && found.epoch === epoch
}

/** The position when it was first written, as far as callers rely on it: the base of the runs it created. */
const firstPosition = ({ writes }: Append, { streams, position }: Evidence): number => {
  const created = writes.find(({ create }) => create?.event === null && create.sequence === undefined)
  return (created && streams.get(created.stream)?.base) ?? position
}

/** A writer that is wrong in both gets the epoch as reason: it is fenced, and need not retry. */
const fenced = ({ writes }: Append, { streams }: Evidence): Outcome | null => {
  for (const { stream, create, expectedVersion, epoch } of writes) {
    const found = streams.get(stream)
    if (create !== null) continue
    const hasEpoch = epoch === null || found?.epoch === epoch
    if (hasEpoch && found?.version === expectedVersion) continue
    return conflict(stream, found, found !== undefined && !hasEpoch ? 'epoch' : 'version')
  }
  return null
}

const taken = ({ events }: Append, evidence: Evidence): Outcome | null => {
  for (const { event } of events) {
    const found = evidence.events.get(event)
    if (found === undefined) continue
    const runs: readonly RunId[] = found.runs.map(runId).sort()
    return { kind: 'conflict', reason: 'taken', sequence: found.seq, dataHash: found.data_hash, runs }
  }
  return null
}

/** A stream to be created exists; or a write that conflicted a moment ago would fit now, and its writer must read again. */
const overtaken = ({ writes }: Append, { streams }: Evidence): Outcome => {
  const [first] = writes
  if (first === undefined) throw new Error('an append without writes or events cannot lose')
  const existing = writes.find(({ create, stream }) => create !== null && streams.has(stream)) ?? first
  return conflict(existing.stream, streams.get(existing.stream), 'version')
}

const conflict = (stream: StreamId, found: FoundStream | undefined, reason: 'version' | 'epoch'): Outcome => ({
  kind: 'conflict',
  reason,
  stream,
  version: found?.version ?? 0,
  epoch: found?.epoch ?? 0,
})
