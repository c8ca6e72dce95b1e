/** Where what a run sets off stands in the chain of causes: after the run itself, which stands after what triggered it. */
import type { Cause } from '../model/event.ts'
import type { RunId } from '../model/ids.ts'
import type { RunState } from '../model/run-fact.ts'
import { causedBy } from '../model/trigger.ts'

/** A run as its causes know it. */
export interface Caused {
  readonly id: RunId
  readonly handler: string
  /** What triggered it. */
  readonly event: Cause | null
}

export const causeFrom = ({ id, handler, event }: Caused, state: RunState): Cause => {
  const start = state.kind === 'live' ? state.start : state.kind === 'ended' ? state.last.start : null
  const own = start?.cause ?? event
  return causedBy(own ?? { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }, id, handler)
}
