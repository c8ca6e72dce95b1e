/**
 * Packs the result of a claim for the way between threads: claims, records with facts, and events as plain values in lists.
 *
 * Owns both directions, for the same reason as packed.ts.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { Claim, Claims, SealedFact, StreamRecord } from '#ports/ledger.ts'

type Packed = readonly unknown[]

export interface PackedClaims {
  readonly nextDueAt: Claims['nextDueAt']
  readonly claims: Packed
  readonly moved?: number
  /** Absent: the claim returned no records. */
  readonly records?: Packed
  readonly events?: Packed
}

type ClaimList = readonly [Claim['stream'], Claim['tenant'], Claim['version'], Claim['epoch'], Claim['signal']]

/** Followed by its facts; the last value is their number. */
type RecordList = readonly [
  ...[StreamRecord['stream'], StreamRecord['tenant'], StreamRecord['handler'], StreamRecord['systemHash']],
  ...[StreamRecord['session'], StreamRecord['parent'], StreamRecord['event'], StreamRecord['base']],
  ...[StreamRecord['version'], StreamRecord['epoch'], StreamRecord['signal'], StreamRecord['status']],
  ...[StreamRecord['wakeAt'], StreamRecord['lease'], StreamRecord['recoveries'], StreamRecord['headHash']],
  ...[createdAt: StreamRecord['createdAt'], bornHash: StreamRecord['bornHash'], facts: number],
]

type EventList = readonly [
  ...[StoredEvent['sequence'], StoredEvent['id'], StoredEvent['tenant'], StoredEvent['source'], StoredEvent['type']],
  ...[StoredEvent['subject'], StoredEvent['time'], StoredEvent['data'], StoredEvent['correlationId']],
  ...[StoredEvent['causationId'], StoredEvent['traceparent'], StoredEvent['hops'], StoredEvent['chain']],
  StoredEvent['requesters'],
]

type FactList = readonly [SealedFact['type'], SealedFact['recordedAt'], SealedFact['body'], SealedFact['hash']]

const CLAIM_VALUES = 5
const RECORD_VALUES = 19
const EVENT_VALUES = 14
const FACT_VALUES = 4

const inOne = <Item>(items: readonly Item[], add: (packed: unknown[], item: Item) => void): Packed => {
  const packed: unknown[] = []
  for (const item of items) add(packed, item)
  return packed
}

const inParts = <List extends Packed, Item>(packed: Packed, size: number, make: (list: List) => Item): Item[] => {
  const items: Item[] = []
  for (let i = 0; i < packed.length; i += size) items.push(make(packed.slice(i, i + size) as unknown as List))
  return items
}

export const packClaims = ({ claims, nextDueAt, moved, records, events }: Claims): PackedClaims => ({
  nextDueAt,
  claims: inOne(claims, addClaim),
  ...(moved !== undefined && { moved }),
  ...(records !== undefined && { records: inOne(records, addRecord) }),
  ...(events !== undefined && { events: inOne(events, addEvent) }),
})

export const unpackClaims = ({ claims, nextDueAt, moved, records, events }: PackedClaims): Claims => ({
  nextDueAt,
  claims: inParts(claims, CLAIM_VALUES, toClaim),
  ...(moved !== undefined && { moved }),
  ...(records !== undefined && { records: toRecords(records) }),
  ...(events !== undefined && { events: inParts(events, EVENT_VALUES, toEvent) }),
})

const addClaim = (packed: unknown[], { stream, tenant, version, epoch, signal }: Claim): void => {
  packed.push(stream, tenant, version, epoch, signal)
}

const toClaim = ([stream, tenant, version, epoch, signal]: ClaimList): Required<Claim> => ({
  stream,
  tenant,
  version,
  epoch,
  signal,
})

const addRecord = (packed: unknown[], record: StreamRecord): void => {
  const { stream, tenant, handler, systemHash, session, parent, event, base, version, epoch, signal, status } = record
  const { wakeAt, lease, recoveries, headHash, createdAt, bornHash, facts } = record
  packed.push(stream, tenant, handler, systemHash, session, parent, event, base, version, epoch, signal)
  packed.push(status, wakeAt, lease, recoveries, headHash, createdAt, bornHash, facts.length)
  for (const { type, recordedAt, body, hash } of facts) packed.push(type, recordedAt, body, hash)
}

const toRecords = (packed: Packed): readonly StreamRecord[] => {
  const records: StreamRecord[] = []
  for (let i = 0; i < packed.length; ) {
    const list = packed.slice(i, i + RECORD_VALUES) as unknown as RecordList
    const from = i + RECORD_VALUES
    i = from + list[18] * FACT_VALUES
    records.push(toRecord(list, inParts(packed.slice(from, i), FACT_VALUES, toFact)))
  }
  return records
}

/** Written out: this runs for every run that is woken, and a spread costs as much as the rest. */
const toRecord = (list: RecordList, facts: readonly SealedFact[]): Required<Omit<StreamRecord, 'broken'>> => ({
  stream: list[0],
  tenant: list[1],
  handler: list[2],
  systemHash: list[3],
  bornHash: list[17],
  session: list[4],
  parent: list[5],
  event: list[6],
  base: list[7],
  version: list[8],
  epoch: list[9],
  signal: list[10],
  status: list[11],
  wakeAt: list[12],
  lease: list[13],
  recoveries: list[14],
  headHash: list[15],
  createdAt: list[16],
  facts,
})

const toFact = ([type, recordedAt, body, hash]: FactList): SealedFact => ({ type, recordedAt, body, hash })

const addEvent = (packed: unknown[], event: StoredEvent): void => {
  const { sequence, id, tenant, source, type, subject, time, data } = event
  const { correlationId, causationId, traceparent, hops, chain, requesters } = event
  packed.push(sequence, id, tenant, source, type, subject, time, data)
  packed.push(correlationId, causationId, traceparent, hops, chain, requesters)
}

const toEvent = (list: EventList): Required<Omit<StoredEvent, 'broken' | 'requesters'>> & StoredEvent => ({
  sequence: list[0],
  id: list[1],
  tenant: list[2],
  source: list[3],
  type: list[4],
  subject: list[5],
  time: list[6],
  data: list[7],
  correlationId: list[8],
  causationId: list[9],
  traceparent: list[10],
  hops: list[11],
  chain: list[12],
  ...(list[13] !== undefined && { requesters: list[13] }),
})
