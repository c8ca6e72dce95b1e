/**
 * Decides what happens to each event of an ended batch: which are retried, and which of their keys are free.
 *
 * Owns the retry of events that failed, and what the end of the batch means for their keys. The command says which events failed.
 *
 * batch-items-1  An event that succeeded keeps its key as a run that succeeded does. One that failed and is retried holds it, while it waits and
 *                in its next run; one that failed for good frees it.
 */
import { type Arrival, candidateOf } from '#model/event/arrival.ts'
import { type RetryPolicy, retryDelayMs } from '#model/flow/policies/retry.ts'
import { valueAt } from '#model/kernel/due-map.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { type Draft, policiesFor, record } from './gate-draft.ts'
import type { EndedKeys, EndedRun } from './gate-fact.ts'

interface FailedItems {
  readonly run: RunId
  readonly next: RunId
  readonly roll: number
  readonly first: Arrival
  readonly arrivals: readonly Arrival[]
  readonly attempt: number
  /** Null: this was the last attempt. */
  readonly retry: RetryPolicy | null
  readonly keys: EndedKeys
}

/** Returns null if no event has failed on its own. */
export const itemsOf = (draft: Draft, { run, failed }: EndedRun, attempt: number): FailedItems | null => {
  const [first] = failed?.arrivals ?? []
  if (failed === undefined || first === undefined) return null
  const { arrivals, next, roll } = failed
  const policy = policiesFor(draft, first).batch?.retry
  const retry = policy === undefined || attempt >= policy.maxAttempts ? null : policy
  const held = arrivals.flatMap(({ sequence, idempotencyKey: key }) => {
    const claim = key === null ? undefined : valueAt(draft.state.claims, key)
    return claim?.run === run && claim.sequence === sequence ? [claim.key] : []
  })
  const keys = retry === null ? { freed: held, again: [], next: null } : { freed: [], again: held, next }
  return { run, next, roll, first, arrivals, attempt, retry, keys }
}

/** gate-5: the events wait in a window of their own, with their keys, and pass overlap and throttle again. */
export const tryAgain = (draft: Draft, items: FailedItems): void => {
  const { run, next, roll, first, arrivals, attempt, retry, keys } = items
  if (retry === null) return
  const { now } = draft
  const events = arrivals.map(({ sequence, idempotencyKey: key }) => ({
    sequence,
    key: key !== null && keys.again.includes(key) ? key : null,
  }))
  const candidate = { ...candidateOf(next, first, 'events'), events, attempt: attempt + 1 }
  const bytes = arrivals.reduce((sum, arrival) => sum + arrival.bytes, 0)
  const window = { candidate, openedAt: now, newestAt: first.time, bytes }
  const firesAt = now + retryDelayMs(retry, attempt, roll)
  record(draft, { type: 'gate.window_opened', at: now, key: `again\n${run}`, window, firesAt, claim: null })
}
