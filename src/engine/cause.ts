/** Where what a run sets off stands in the chain of causes: after the run itself, which stands after what triggered it. */
import type { Cause } from '../model/event.ts'
import type { RunState } from '../model/run-fact.ts'
import { causedBy } from '../model/trigger.ts'
import type { ResidentRecord } from './resident.ts'

export const causeFrom = ({ id, handler, event }: ResidentRecord, state: RunState): Cause => {
  const start = state.kind === 'live' ? state.start : state.kind === 'ended' ? state.last.start : null
  const own = start?.cause ?? event
  return causedBy(own ?? { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }, id, handler)
}
