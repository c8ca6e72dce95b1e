/**
 * Retries of failed runs, which need their gate's permission for another life.
 *
 * Owns what a gate requires of a retry in addition to other calls: the rest of the way (pause, overlap, throttle) is the same (gate.ts).
 *
 * gate-retry-1  One live or successful run per key: a retry is refused while another run has its key, whatever `on_conflict` says.
 * gate-retry-2  A retry that waits is not requested twice.
 * gate-retry-5  A cancel of its run withdraws a retry that waits; the run then has a life that ends as it begins (gate-revival-2).
 * gate-retry-6  The retry of a child that was called with `gate: none` does not pass the gate, if its parent requests it.
 * gate-retry-3  A retry does not count against a rate limit: its run was counted when it first came.
 */
import type { Arrival, Call } from '#model/event/arrival.ts'
import { type Claim, holderOf } from '#model/flow/policies/idempotency.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { OpenGate } from './gate-fact.ts'
import { waiterOf } from './gate-read.ts'

/** gate-retry-1. Returns the claim of another run on one of this retry's keys; null: there is none. */
export const keptBy = (
  { claims }: Pick<OpenGate, 'claims'>,
  { idempotencyKey, call }: Arrival,
  now: Instant,
): Claim | null => {
  for (const key of [idempotencyKey, ...(call?.retry?.keys ?? [])]) {
    const holder = key === null ? null : holderOf(claims, key, now)
    if (holder !== null && holder.run !== call?.run) return holder
  }
  return null
}

export const keptReason = ({
  run,
}: Claim): { readonly reason: 'duplicate'; readonly detail: string; readonly into: RunId } => ({
  reason: 'duplicate',
  detail: 'RUN_EXISTS: another run has the same key and has not failed',
  into: run,
})

/** gate-retry-2. */
export const isRetryWaiting = (state: OpenGate, { run, retry }: Call): boolean =>
  retry !== undefined && waitsForRetry(state, run)

export const waitsForRetry = (state: OpenGate, run: RunId): boolean =>
  waiterOf(state, ({ call }) => call?.run === run && call.retry !== undefined) !== null
