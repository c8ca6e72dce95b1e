/** Where what a run sets off stands in the chain of causes: after the run itself, which stands after what triggered it. */
import type { Requesters } from '#model/access/requester.ts'
import type { Cause } from '#model/event/event.ts'
import { causedBy } from '#model/event/trigger.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { RunStart, RunState } from '#model/run/fact.ts'

/** A run as its causes know it. */
export interface Caused {
  readonly id: RunId
  readonly handler: string
  /** What triggered it. */
  readonly event: Cause | null
}

export const startOf = (state: RunState): RunStart | null =>
  state.kind === 'live' ? state.start : state.kind === 'ended' ? state.last.start : null

/** The sequence of the event that a run works on: its own, or that of the run of which it is another go. */
export const triggerOf = ({ event }: { readonly event: number | null }, state: RunState): number | null =>
  event ?? startOf(state)?.rerun?.trigger ?? null

/** Its own place in the chain. */
export const causeOf = ({ id, event }: Omit<Caused, 'handler'>, state: RunState): Cause =>
  startOf(state)?.cause ?? event ?? { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }

/** Of a run that people start by name; null: no person does, and the run begins its chain without a word about it. */
export const firstCause = (id: RunId, { requesters }: Requesters): Cause | null =>
  requesters === undefined
    ? null
    : { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [], requesters }

export const causeFrom = (run: Caused, state: RunState): Cause => causedBy(causeOf(run, state), run.id, run.handler)
