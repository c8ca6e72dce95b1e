/**
 * An ended run that a person retries: what it goes on with.
 *
 * Owns what of its last life counts again. Finished steps stay finished; failed ones get their attempts back.
 *
 * run-reopen-1  Only a person retries a run in which a person refused a step: the step would be performed after all.
 */
import { recallsOf } from './child-retry.ts'
import { giveBack } from './consumed.ts'
import type { Kind } from './identity.ts'
import { changed } from './live-run.ts'
import { type Refusal, refuse } from './machine.ts'
import type { LiveRun, RunFact } from './run-fact.ts'

/** run-reopen-1. Null: it may be retried. */
export const forbidRetry = ({ settled }: LiveRun, by: string, kind: Kind): Refusal | null => {
  if (kind === 'user') return null
  for (const [step, state] of settled.entries())
    if (state.kind === 'failed' && state.error.code === 'STEP_REFUSED')
      return refuse(
        'AGENT_CANNOT_DECIDE',
        `${by} is of kind ${kind}; a person refused ${step}, and only a person retries it`,
      )
  return null
}

/**
 * Instants that have passed are lifted, or time would end the run again before its first step. Waits are opened anew by the
 * code: the ledger forgot them at the end, and an event could no longer find one that was only kept here. People are asked anew:
 * their tasks went with the end. Children go on when the code calls them (child-retry.ts).
 */
export const reopen = (last: LiveRun, fact: Extract<RunFact, { readonly type: 'run.retried' }>): LiveRun => {
  const { at: now, by, kind = 'user', call = null } = fact
  const { deadlineAt } = last.start
  const start = {
    ...last.start,
    startBy: null,
    deadlineAt: deadlineAt !== null && deadlineAt <= now ? null : deadlineAt,
  }
  let settled = last.settled
  let stillOpen = last.open
  for (const [step, state] of settled.entries()) {
    if (state.kind !== 'failed') continue
    settled = settled.without(step)
    // A person gave it up without knowing whether it happened: performed once more only if a person says so.
    if (state.doubt !== undefined) stillOpen = stillOpen.with(step, state.doubt)
  }
  let { consumed } = last
  for (const [step, one] of stillOpen.entries()) {
    if (one.kind === 'waiting') consumed = giveBack(consumed, one.wait.received)
    if (one.kind === 'retrying' || one.kind === 'waiting' || one.kind === 'calling') stillOpen = stillOpen.without(step)
  }
  return changed(last, {
    start,
    retried: { times: (last.retried?.times ?? 0) + 1, by, kind, call },
    failures: 0,
    retryAt: null,
    cancel: null,
    pause: null,
    tasks: [],
    recalls: recallsOf(last),
    settled,
    open: stillOpen,
    consumed,
  })
}
