/**
 * Common documents on the wire: snake_case, instants in RFC 3339.
 *
 * Owns the documents of runs, facts and events that routes answer with and the command line reads. Never queries anything.
 */
import type { StoredEvent as EventDocument, Fact as FactDocument, Run as RunDocument } from '#http/openapi/api.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { SealedFact } from '#ports/ledger.ts'
import type { RunSummary } from '#ports/reader.ts'
import { describeFact } from './fact-text.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export const runDocument = (run: RunSummary): RunDocument => ({
  id: run.id,
  handler: run.handler,
  // Queries for runs never return the stream of a session, so its status does not occur.
  status: run.status as RunDocument['status'],
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
    text: describeFact(fact),
    body: JSON.parse(sealed.body) as FactDocument['body'],
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
