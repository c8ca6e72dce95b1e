/**
 * Packs the most common append that creates something for the way between threads: one event, and one run that it starts.
 *
 * Owns both directions, for the same reason as packed.ts. An append with anything else, such as slots or documents, is sent unpacked.
 */
import type { Event } from '#model/event/event.ts'
import type { Append, NewEvent, NewStream, SealedFact, StreamWrite } from '#ports/ledger.ts'
import type { Packing } from './packing.ts'

type Birth = Append & {
  readonly writes: readonly [StreamWrite & { readonly create: NewStream; readonly facts: readonly [SealedFact] }]
  readonly events: readonly [NewEvent]
}

type WriteList = readonly [
  ...[appendId: string, stream: StreamWrite['stream'], status: StreamWrite['status'], wakeAt: StreamWrite['wakeAt']],
  ...[release: boolean, seenSignal: number, type: string, recordedAt: number, body: string, hash: string],
  ...[tenant: NewStream['tenant'], handler: string, systemHash: string, session: NewStream['session']],
  ...[parent: NewStream['parent'], event: number | null, lease: NewStream['lease'], createdAt: number],
]

type EventList = readonly [
  ...[id: string, tenant: Event['tenant'], source: string, type: string, subject: Event['subject'], time: number],
  ...[data: Event['data'], correlationId: string, causationId: string | null, traceparent: string | null],
  ...[hops: number, chain: Event['chain'], dataHash: string],
]

export type BirthValue = WriteList[number] | EventList[number]

const WRITE_VALUES = 18
export const BIRTH_VALUES = WRITE_VALUES + 13
const NONE: readonly never[] = []

export const isBirth = (append: Append): append is Birth => {
  const { writes, events, signals, documents } = append
  const [write] = writes
  const [entry] = events
  if (write === undefined || entry === undefined || writes.length + events.length + signals.length !== 2) return false
  if (entry.event.requesters !== undefined) return false
  return documents.length === 0 && entry.suppressed.length === 0 && isPlainCreation(write)
}

const isPlainCreation = ({ create, epoch, facts, headHash, task, opensWaits, closesWaits }: StreamWrite): boolean =>
  create !== null &&
  epoch === null &&
  create.slots === undefined &&
  create.priority === undefined &&
  create.sequence === undefined &&
  task === undefined &&
  facts.length === 1 &&
  facts[0]?.hash === headHash &&
  opensWaits.length + closesWaits.length === 0

export const packBirth = (
  packed: Pick<Packing<BirthValue>, 'putAll'>,
  { appendId, writes: [write], events: [entry] }: Birth,
): void => {
  const { stream, status, wakeAt, release, seenSignal, create, facts } = write
  const { tenant, handler, systemHash, session, parent, lease, createdAt } = create
  const [{ type, recordedAt, body, hash }] = facts
  const { event, dataHash } = entry
  const { correlationId, causationId, traceparent, hops, chain } = event
  // biome-ignore format: the order of WriteList and EventList, as they stand there
  packed.putAll([
    true, appendId, stream, status, wakeAt, release, seenSignal, type, recordedAt, body, hash,
    tenant, handler, systemHash, session, parent, create.event, lease, createdAt,
    event.id, event.tenant, event.source, event.type, event.subject, event.time, event.data,
    correlationId, causationId, traceparent, hops, chain, dataHash,
  ])
}

export const unpackBirth = (list: readonly unknown[]): Append => {
  const [appendId, stream, status, wakeAt, release, seenSignal, type, recordedAt, body, hash, ...created] = list.slice(
    0,
    WRITE_VALUES,
  ) as unknown as WriteList
  const [tenant, handler, systemHash, session, parent, event, lease, createdAt] = created
  return {
    appendId,
    writes: [
      {
        stream,
        create: { tenant, handler, systemHash, session, parent, event, lease, createdAt },
        expectedVersion: 0,
        epoch: null,
        facts: [{ type, recordedAt, body, hash }],
        headHash: hash,
        status,
        wakeAt,
        release,
        seenSignal,
        opensWaits: NONE,
        closesWaits: NONE,
      },
    ],
    events: [unpackEvent(list.slice(WRITE_VALUES) as unknown as EventList)],
    signals: NONE,
    documents: NONE,
  }
}

const unpackEvent = (list: EventList): NewEvent => {
  const [id, tenant, source, type, subject, time, data, correlationId, causationId, ...rest] = list
  const [traceparent, hops, chain, dataHash] = rest
  const event = { id, tenant, source, type, subject, time, data, correlationId, causationId, traceparent, hops, chain }
  return { event, dataHash, suppressed: NONE }
}
