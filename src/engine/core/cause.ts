/** Places in the chain of causes: what a run sets off comes after the run, which comes after what triggered it. */
import type { Requesters } from '#model/access/requester.ts'
import type { Cause } from '#model/event/event.ts'
import { causedBy } from '#model/event/trigger.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { RunStart, RunState } from '#model/run/fact.ts'

/** What the chain of causes needs to know of a run. */
export interface Caused {
  readonly id: RunId
  readonly handler: string
  /** What triggered it. */
  readonly event: Cause | null
}

export const startOf = (state: RunState): RunStart | null =>
  state.kind === 'live' ? state.start : state.kind === 'ended' ? state.last.start : null

/** Returns the sequence of the event that a run works on: its own, or for a rerun that of the run that it repeats. */
export const triggerOf = ({ event }: { readonly event: number | null }, state: RunState): number | null =>
  event ?? startOf(state)?.rerun?.trigger ?? null

/** Returns the run's own place in the chain. */
export const causeOf = ({ id, event }: Omit<Caused, 'handler'>, state: RunState): Cause =>
  startOf(state)?.cause ?? event ?? { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }

/** The cause of a run that a person starts by name; null: no person is known, and the run begins its chain without a recorded cause. */
export const firstCause = (id: RunId, { requesters }: Requesters): Cause | null =>
  requesters === undefined
    ? null
    : { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [], requesters }

export const causeFrom = (run: Caused, state: RunState): Cause => causedBy(causeOf(run, state), run.id, run.handler)
