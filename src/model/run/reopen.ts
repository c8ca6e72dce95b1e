/**
 * An ended run that is retried: what its new life begins with.
 *
 * Owns what counts again from its last life. Finished steps stay finished; failed ones get all their attempts back.
 *
 * run-reopen-2  An event that has ended a run by `cancel_on` does not end it again, nor does one that came before the retry was requested: the new
 *               life looks at later events.
 * run-reopen-4  A wait that timed out begins again, unless the run has finished something since: then its timeout was acted on.
 * run-reopen-3  The time in which a run must end begins again, and so does the time in which it must begin, if it never began.
 * run-reopen-1  Only a person retries a run in which a person refused a step: the step would be performed after all.
 */
import type { Kind } from '#model/access/identity.ts'
import { isCancelStep } from '#model/event/cancel-on.ts'
import { giveBack, listenAfter } from '#model/event/consumed.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import { recallsOf } from './child-retry.ts'
import type { Limits, LiveRun, RunFact, RunStart } from './fact.ts'
import { changed } from './live-run.ts'

/** True if the run has finished something: its code has continued with a result. */
const isFinished = (fact: RunFact): boolean => {
  switch (fact.type) {
    case 'step.completed':
    case 'step.reused':
    case 'timer.fired':
    case 'wait.received':
      return true
    case 'step.resolved':
      return fact.verdict === 'happened'
    case 'child.ended':
      return fact.end.kind === 'done'
    default:
      return false
  }
}

/** run-reopen-4. */
export const waitsAnew = (happened: readonly RunFact[]): readonly string[] => {
  const since = happened.slice(happened.findLastIndex(isFinished) + 1)
  return [...new Set(since.flatMap((fact) => (fact.type === 'wait.timed_out' ? [fact.step] : [])))]
}

/** run-reopen-1. Null: the retry is allowed. */
export const forbidRetry = ({ settled }: LiveRun, by: string, kind: Kind): Refusal | null => {
  if (kind === 'user') return null
  for (const [step, state] of settled.entries())
    if (state.kind === 'failed' && state.error.code === 'STEP_REFUSED')
      return refuse(
        'AGENT_CANNOT_DECIDE',
        `${by} is of kind ${kind}; a person refused ${step}, so only a person may retry it`,
      )
  return null
}

/** run-reopen-3: the instants of the new life, as far from its beginning as those of the last life were from theirs. */
export const limitsAfter = ({ start, startedAt, retried }: LiveRun, now: Instant): Limits => {
  const moved = (instant: Instant | null): Instant | null =>
    instant === null ? null : now + Math.max(0, instant - (retried?.at ?? startedAt))
  return { startBy: moved(start.startBy), deadlineAt: moved(start.deadlineAt) }
}

/** The limits for facts of older versions, which dropped instants that had passed. */
const limitsBefore = ({ deadlineAt }: RunStart, now: Instant): Limits => ({
  startBy: null,
  deadlineAt: deadlineAt !== null && deadlineAt <= now ? null : deadlineAt,
})

/**
 * The first state of the new life. The code opens waits again: the ledger dropped them at the end, and an event could not find a wait that was kept
 * only here. People are asked again: their tasks were withdrawn at the end. Children continue when the code calls them (child-retry.ts).
 */
export const reopen = (last: LiveRun, fact: Extract<RunFact, { readonly type: 'run.retried' }>): LiveRun => {
  const { at, by, kind = 'user', call = null, limits, heard = 0, anew = [] } = fact
  const start = { ...last.start, ...(limits ?? limitsBefore(last.start, at)) }
  let { settled } = last
  let consumed = listenAfter(last.consumed, heard)
  let stillOpen = last.open
  for (const [step, state] of settled.entries()) {
    // run-reopen-2
    if (state.kind === 'received' && isCancelStep(step)) {
      consumed = listenAfter(consumed, ...state.events.map(({ sequence }) => sequence))
      settled = settled.without(step)
    } else if (state.kind === 'received' && state.timedOut && anew.includes(step)) {
      consumed = giveBack(consumed, state.events)
      settled = settled.without(step)
    }
    if (state.kind !== 'failed') continue
    settled = settled.without(step)
    // A person aborted it without knowing whether it happened: it is performed again only if a person decides so.
    if (state.uncertain !== undefined) stillOpen = stillOpen.with(step, state.uncertain)
  }
  for (const [step, one] of stillOpen.entries()) {
    if (one.kind === 'waiting') consumed = giveBack(consumed, one.wait.received)
    if (one.kind === 'retrying' || one.kind === 'waiting' || one.kind === 'calling') stillOpen = stillOpen.without(step)
  }
  return changed(last, {
    start,
    retried: { times: (last.retried?.times ?? 0) + 1, at, by, kind, call },
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
