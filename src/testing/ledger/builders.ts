/**
 * Builds appends, facts and events for the suites of the ledger and the reader: complete by default, changed where a test needs it.
 *
 * Every append id, event id and run id is new, and ids increase with time, so that order of creation and order of ids agree.
 */
import type { Event } from '#model/event/event.ts'
import type { RunId, SessionId, StreamId, TaskId, WorkerId } from '#model/kernel/ids.ts'
import { LOCAL_TENANT, runId, sessionId, taskId, workerId } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Append, NewEvent, NewStream, SealedFact, StreamWrite, TaskRow, WaitRow } from '#ports/ledger.ts'

/** The instant at which these tests begin. Far above 2^31, as all real instants are. */
export const START = 1_800_000_000_000

let drawn = 0
const next = (): string => String(++drawn)
const nextUuid = (): string => `01900000-0000-7000-8000-${(++drawn).toString(16).padStart(12, '0')}`

export const newRun = (): RunId => runId(nextUuid())
export const newSession = (): SessionId => sessionId(nextUuid())
/** Task ids keep the leading part of the uuid, as real ones do: ids increase there, not at the end. */
export const newTask = (): TaskId => taskId(`${(++drawn).toString(16).padStart(12, '0')}70008000000000000000`)
export const newWorker = (): WorkerId => workerId(nextUuid())

export const aFact = (fact: Partial<SealedFact> = {}): SealedFact => {
  const id = next()
  return { type: 'step.completed', recordedAt: START, body: `{"n":${id}}`, hash: `hash-${id}`, ...fact }
}

export const anAppend = (append: Partial<Append> = {}): Append => ({
  appendId: `append-${next()}`,
  writes: [],
  events: [],
  signals: [],
  documents: [],
  ...append,
})

/** One more fact for an existing stream, from its holder at epoch 1, who keeps the lease. */
export const aWrite = (stream: StreamId, write: Partial<StreamWrite> = {}): StreamWrite => {
  const facts = write.facts ?? [aFact()]
  return {
    stream,
    create: null,
    expectedVersion: 1,
    epoch: 1,
    facts,
    headHash: facts.at(-1)?.hash ?? '',
    status: 'running',
    wakeAt: null,
    release: false,
    seenSignal: 0,
    opensWaits: [],
    closesWaits: [],
    ...write,
  }
}

const aNewStream = (stream: Partial<NewStream> = {}): NewStream => ({
  tenant: LOCAL_TENANT,
  handler: 'send-invoice',
  systemHash: 'system-1',
  session: null,
  parent: null,
  event: null,
  lease: null,
  createdAt: START,
  ...stream,
})

/** A new run with one fact, due at once and without a holder. */
export const aCreation = (
  stream: StreamId,
  create: Partial<NewStream> = {},
  write: Partial<StreamWrite> = {},
): StreamWrite =>
  aWrite(stream, {
    create: aNewStream(create),
    expectedVersion: 0,
    epoch: null,
    facts: [aFact({ type: 'run.created' })],
    status: 'queued',
    wakeAt: START,
    ...write,
  })

export const anEvent = (event: Partial<Event> = {}, rest: Partial<NewEvent> = {}): NewEvent => {
  const id = `event-${next()}`
  const data: Json = event.data ?? { order: 7 }
  return {
    event: {
      id,
      tenant: LOCAL_TENANT,
      source: 'test',
      type: 'order.paid',
      subject: null,
      time: START,
      data,
      correlationId: event.id ?? id,
      causationId: null,
      traceparent: null,
      hops: 0,
      chain: [],
      ...event,
    },
    dataHash: `sha-${canonical(data).length}-${id}`,
    suppressed: [],
    ...rest,
  }
}

export const aWait = (wait: Partial<WaitRow> = {}): WaitRow => ({
  step: 'payment',
  type: 'order.paid',
  path: '',
  value: '',
  base: 0,
  seen: 0,
  ...wait,
})

export const aTask = (task: Partial<TaskRow> = {}): TaskRow => ({
  tenant: LOCAL_TENANT,
  run: newRun(),
  step: 'review',
  status: 'pending',
  isOpen: true,
  type: 'approval',
  title: 'Send the letter?',
  addresses: ['user:ana'],
  claimedBy: null,
  priority: 0,
  deadlineAt: null,
  createdAt: START,
  updatedAt: START,
  putOff: {},
  summary: {},
  ...task,
})
