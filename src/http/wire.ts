/**
 * Our values as the wire spells them: snake_case, instants in RFC 3339.
 *
 * Owns the documents that routes answer with and the command line reads. Never queries anything.
 */
import type { Receipt } from '../engine/intake.ts'
import type { StoredEvent } from '../model/event.ts'
import { readRunFact } from '../model/fact-codec.ts'
import type { Json } from '../model/json.ts'
import type { RunFact } from '../model/run-fact.ts'
import type { SealedFact, Suppression } from '../ports/ledger.ts'
import type { RunSummary } from '../ports/reader.ts'
import type { Page } from './query.ts'
import { isoTime, isoTimeOrNull } from './wire-time.ts'
import { tell } from './words.ts'

export interface RunDocument {
  readonly id: string
  readonly handler: string
  readonly status: string
  readonly session_id: string | null
  readonly parent_id: string | null
  /** Sequence of the event that started it. */
  readonly event: number | null
  readonly version: number
  readonly wake_at: string | null
  readonly created_at: string
}

export interface FactDocument {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly step: string | null
  /** The fact in plain words. */
  readonly text: string
  /** As it is stored, in the ledger's own spelling. */
  readonly body: Json
}

export interface WaitingOn {
  readonly kind: string
  readonly step: string | null
  readonly until: string | null
  readonly text: string
}

export interface RunDetail extends RunDocument {
  readonly waiting_on: readonly WaitingOn[]
  readonly children: readonly RunDocument[]
  readonly output: Json
  readonly error: { readonly code: string; readonly message: string } | null
  readonly facts: Page<FactDocument>
}

export interface EventDocument {
  readonly sequence: number
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject: string | null
  readonly time: string
  readonly data: Json
  readonly correlation_id: string
  readonly causation_id: string | null
  readonly hops: number
}

export interface ReceiptDocument {
  readonly id: string
  readonly sequence: number
  readonly runs: readonly string[]
  readonly duplicate: boolean
  /** Functions that listen to this event and were not started, with the reason. */
  readonly suppressed: readonly Suppression[]
}

export const runDocument = (run: RunSummary): RunDocument => ({
  id: run.id,
  handler: run.handler,
  status: run.status,
  session_id: run.session,
  parent_id: run.parent,
  event: run.event,
  version: run.version,
  wake_at: isoTimeOrNull(run.wakeAt),
  created_at: isoTime(run.createdAt),
})

const stepOf = (fact: RunFact): string | null => ('step' in fact ? fact.step : null)

export const factDocument = (sealed: SealedFact, seq: number): FactDocument => {
  const fact = readRunFact(sealed)
  return {
    seq,
    type: sealed.type,
    at: isoTime(sealed.recordedAt),
    step: stepOf(fact),
    text: tell(fact),
    body: JSON.parse(sealed.body) as Json,
  }
}

export const eventDocument = (event: StoredEvent): EventDocument => ({
  sequence: event.sequence,
  id: event.id,
  source: event.source,
  type: event.type,
  subject: event.subject,
  time: isoTime(event.time),
  data: event.data,
  correlation_id: event.correlationId,
  causation_id: event.causationId,
  hops: event.hops,
})

export const receiptDocument = (receipt: Receipt, suppressed: readonly Suppression[]): ReceiptDocument => ({
  ...receipt,
  suppressed,
})
