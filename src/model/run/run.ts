/**
 * A run: the execution of a handler for one trigger, as a fold over its facts.
 *
 * Owns the run's life from start to end and what each command may record. Attempts are in attempt.ts, waits in waiting.ts, pauses in
 * pause.ts.
 *
 * run-1  After an end nothing but evidence is recorded, until a person retries the run.
 * run-2  After a cancel no step starts and no result counts; the run ends once its children have, except detached ones.
 * run-3  A run that has not ended knows what it waits for: wakeAt, an open step, or a holder at work.
 * run-4  A run knows the tasks it has asked until they are over: with its end they are withdrawn.
 * run-5  A hand-over to another version of the code is recorded once, before that version begins a step.
 * run-6  A run that had to begin by an instant and was entered before it never expires: the first entry is recorded.
 */
import { dueFacts, endChild, openWait, receiveEvent, setTimer, startChild } from '#model/event/waiting.ts'
import { retryDelayMs } from '#model/flow/policies/retry.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'
import { NOTHING } from '#model/kernel/payload.ts'
import {
  completeStep,
  failStep,
  intendStep,
  keepEvidence,
  markUncertain,
  refuseMisuse,
  reportLate,
  resolveStep,
} from './attempt.ts'
import { beginRun, reuseFact, startFacts } from './birth.ts'
import { callOf } from './child-retry.ts'
import type { EndedRun, LiveRun, RunCommand, RunFact, RunState, WorkCommand } from './fact.ts'
import { changed } from './live-run.ts'
import { pauseRun, refusePaused, resumeRun } from './pause.ts'
import { forbidRetry, limitsAfter, reopen } from './reopen.ts'
import type { RunStatus } from './status.ts'
import { type OpenStep, type SettledStep, stepWakeAt } from './step.ts'
import {
  asked,
  childEnded,
  intended,
  open,
  received,
  recordLateResult,
  recordUncertain,
  resolved,
  reused,
  settle,
  timedOut,
  waitOpened,
} from './steps.ts'

const MAX_STEPS = 100_000

const openChildren = (run: LiveRun): boolean =>
  run.open.some((step) => step.kind === 'calling' && step.detached !== true)

const decideLive = (run: LiveRun, command: RunCommand): Decision<RunFact> => {
  switch (command.type) {
    case 'start_run':
      return facts()
    case 'cancel_run':
      return cancelRun(run, command)
    case 'confirm_cancel':
      return run.cancel === null || openChildren(run) ? facts() : facts(cancelEnd(run.cancel.error, command.now))
    case 'end_child':
      return endChild(run, command)
    case 'report_late':
      return reportLate(run, command)
    case 'quarantine_run':
      return facts({ type: 'run.quarantined', at: command.now, error: command.error })
    case 'retry_run':
      return refuse('RUN_NOT_FAILED', 'the run has not ended')
    case 'pause_run':
      return pauseRun(run, command)
    case 'resume_run':
      return resumeRun(run, command)
    case 'hand_over':
      return handOver(run, command)
    case 'enter_run':
      return enterRun(run, command.now)
    default:
      if (run.cancel !== null) return decideCancelled(run, command)
      return refusePaused(run, command) ?? decideWorking(run, command)
  }
}

const decideWorking = (run: LiveRun, command: WorkCommand): Decision<RunFact> => {
  switch (command.type) {
    case 'finish_run': {
      const { now: at, status, output, events, writes = [] } = command
      const done = { type: 'run.completed', at, status, output } as const
      const sent = events.length === 0 ? done : { ...done, events }
      return facts(writes.length === 0 ? sent : { ...sent, writes })
    }
    case 'fail_run':
      return failRun(run, command)
    case 'pass_time':
      return passTime(run, command.now)
    case 'intend_step':
      return refuseMisuse(run, command.step) ?? underLimit(run, command.step, intendStep(run, command))
    case 'complete_step':
      return refuseMisuse(run, command.step) ?? underLimit(run, command.step, completeStep(run, command))
    case 'fail_step':
      return refuseMisuse(run, command.step) ?? underLimit(run, command.step, failStep(run, command))
    case 'mark_uncertain':
      return markUncertain(run, command)
    case 'resolve_step':
      return resolveStep(run, command)
    case 'reuse_step':
      return run.settled.has(command.step) || run.open.has(command.step)
        ? facts()
        : underLimit(run, command.step, facts(reuseFact(command, command.now)))
    case 'set_timer':
      return underLimit(run, command.step, setTimer(run, command))
    case 'open_wait':
      return underLimit(run, command.step, openWait(run, command))
    case 'receive_event':
      return receiveEvent(run, command)
    case 'start_child':
      return underLimit(run, command.step, startChild(run, command))
  }
}

/** run-2: results that arrive for a cancelled run are kept as evidence, and change nothing. */
const decideCancelled = (run: LiveRun, command: WorkCommand): Decision<RunFact> => {
  switch (command.type) {
    case 'complete_step':
    case 'fail_step':
      return keepEvidence(run, command)
    case 'pass_time':
    case 'receive_event':
    case 'mark_uncertain':
      return facts()
    default:
      return refuse('RUN_CANCELLED', 'the run was cancelled')
  }
}

/** run-6. */
const enterRun = (run: LiveRun, at: Instant): Decision<RunFact> =>
  run.start.startBy === null || run.cancel !== null || run.pause !== null ? facts() : facts({ type: 'run.entered', at })

const retriedFact = (
  last: LiveRun,
  { now, by, kind = 'user', call, heard, anew = [] }: Extract<RunCommand, { readonly type: 'retry_run' }>,
): RunFact => ({
  ...{ type: 'run.retried', at: now, by },
  ...((last.start.startBy ?? last.start.deadlineAt) !== null && { limits: limitsAfter(last, now) }),
  ...(kind !== 'user' && { kind }),
  ...(call !== undefined && { call }),
  ...(heard !== undefined && { heard }),
  ...(anew.length > 0 && { anew }),
})

const decideEnded = (run: EndedRun, command: RunCommand): Decision<RunFact> => {
  switch (command.type) {
    case 'retry_run':
      if (run.status === 'success' || run.status === 'partial')
        return refuse('RUN_NOT_FAILED', `the run ended with ${run.status}`)
      return forbidRetry(run.last, command.by, command.kind ?? 'user') ?? facts(retriedFact(run.last, command))
    case 'report_late':
      return reportLate(run.last, command)
    case 'complete_step':
    case 'fail_step':
      return keepEvidence(run.last, command)
    case 'cancel_run':
      return run.status === 'cancelled' ? facts() : refuse('RUN_ENDED', `the run ended with ${run.status}`)
    case 'pass_time':
    case 'end_child':
    case 'receive_event':
    case 'confirm_cancel':
    case 'start_run':
    case 'hand_over':
    case 'enter_run':
      return facts()
    default:
      return refuse('RUN_ENDED', `the run ended with ${run.status}`)
  }
}

/** run-5. */
const handOver = (run: LiveRun, command: Extract<RunCommand, { readonly type: 'hand_over' }>): Decision<RunFact> => {
  const { now: at, to } = command
  const from = run.version ?? command.from
  return from === to || run.cancel !== null ? facts() : facts({ type: 'run.handed_over', at, from, to })
}

const cancelRun = (run: LiveRun, command: Extract<RunCommand, { readonly type: 'cancel_run' }>): Decision<RunFact> => {
  if (run.cancel !== null) return facts()
  const requested: RunFact = { type: 'run.cancel_requested', at: command.now, by: command.by, error: command.error }
  return command.idle && !openChildren(run) ? facts(requested, cancelEnd(command.error, command.now)) : facts(requested)
}

/** A deadline is a cancel by the system, and the run then counts as failed. */
const cancelEnd = (error: Failure, at: Instant): RunFact =>
  error.code === 'RUN_DEADLINE' ? { type: 'run.failed', at, error } : { type: 'run.cancelled', at, error }

const failRun = (run: LiveRun, command: Extract<RunCommand, { readonly type: 'fail_run' }>): Decision<RunFact> => {
  const attempt = run.failures + 1
  const { now: at, error } = command
  if (!command.retryable || attempt >= command.retry.maxAttempts) return facts({ type: 'run.failed', at, error })
  return facts({
    type: 'run.retry_scheduled',
    at,
    attempt,
    error,
    wakeAt: at + retryDelayMs(command.retry, attempt, command.roll),
  })
}

/** True if nothing in the run has begun. */
export const isUntouched = (run: LiveRun): boolean =>
  run.settled.size === 0 && run.open.size === 0 && run.failures === 0

const passTime = (run: LiveRun, now: Instant): Decision<RunFact> => {
  const { deadlineAt, startBy } = run.start
  if (startBy !== null && startBy < now && isUntouched(run)) {
    return facts({
      type: 'run.expired',
      at: now,
      error: { code: 'RUN_START_EXPIRED', message: 'the run did not start in time' },
    })
  }
  if (deadlineAt !== null && deadlineAt <= now) {
    return facts({
      type: 'run.cancel_requested',
      at: now,
      by: 'system',
      error: { code: 'RUN_DEADLINE', message: 'the run passed its deadline' },
    })
  }
  if (run.pause !== null) return facts()
  const retryDue: readonly RunFact[] =
    run.retryAt !== null && run.retryAt <= now ? [{ type: 'run.retry_due', at: now }] : []
  return facts(...retryDue, ...dueFacts(run, now))
}

/** Only a new step can exceed the limit: a step that has begun may always settle. */
const underLimit = (run: LiveRun, step: string, decision: Decision<RunFact>): Decision<RunFact> => {
  const isFull = run.settled.size + run.open.size >= MAX_STEPS && !run.settled.has(step) && !run.open.has(step)
  return isFull ? refuse('RUN_TOO_LONG', `the run has ${MAX_STEPS} steps`) : decision
}

const end = (run: LiveRun, status: RunStatus, rest: Partial<Pick<EndedRun, 'output' | 'error'>>): EndedRun => ({
  kind: 'ended',
  status,
  output: rest.output ?? null,
  error: rest.error ?? null,
  last: run,
})

const evolveLive = (run: LiveRun, fact: RunFact): RunState => {
  switch (fact.type) {
    case 'run.started':
    case 'run.retried':
      return run
    case 'step.late_result':
      return recordLateResult(run, fact)
    case 'run.retry_scheduled':
      return changed(run, { failures: fact.attempt, retryAt: fact.wakeAt })
    case 'run.retry_due':
      return changed(run, { retryAt: null })
    case 'run.paused':
      return changed(run, { pause: { by: fact.by, reason: fact.reason } })
    case 'run.resumed':
      return changed(run, { pause: null })
    case 'run.entered':
      return changed(run, { start: { ...run.start, startBy: null } })
    case 'run.handed_over':
      return changed(run, { version: fact.to })
    case 'run.cancel_requested':
      return changed(run, { cancel: { by: fact.by, error: fact.error } })
    case 'run.completed':
      return end(run, fact.status, { output: fact.output })
    case 'run.failed':
      return end(run, 'failed', { error: fact.error })
    case 'run.cancelled':
      return end(run, 'cancelled', { error: fact.error })
    case 'run.expired':
      return end(run, 'expired', { error: fact.error })
    case 'run.quarantined':
      return end(run, 'quarantined', { error: fact.error })
    case 'step.intended':
      return intended(run, fact)
    case 'step.completed':
      return settle(told(run, fact), fact.step, doneOf(run, fact))
    case 'step.failed':
      return settle(run, fact.step, { kind: 'failed', error: fact.error })
    case 'step.retry_scheduled':
      return open(run, fact.step, retrying(fact))
    case 'step.retry_due':
      return retryDue(run, fact.step)
    case 'step.uncertain':
      return recordUncertain(run, fact)
    case 'step.resolved':
      return resolved(run, fact)
    case 'step.reused':
      return reused(run, fact)
    case 'timer.set':
      return open(run, fact.step, { kind: 'sleeping', wakeAt: fact.wakeAt })
    case 'timer.fired':
      return settle(run, fact.step, { kind: 'done', result: NOTHING })
    case 'wait.opened':
      return waitOpened(run, fact)
    case 'wait.received':
      return received(run, fact)
    case 'wait.timed_out':
      return timedOut(run, fact.step)
    case 'child.started':
      return open(asked(run, fact.child), fact.step, { kind: 'calling', child: fact.child, ...callOf(fact) })
    case 'child.ended':
      return childEnded(run, fact)
  }
}

type Fact<Type extends RunFact['type']> = Extract<RunFact, { readonly type: Type }>

/** Only steps of effect `once` are intended before they are done. */
const doneOf = (run: LiveRun, { step, result }: Fact<'step.completed'>): SettledStep =>
  run.open.size > 0 && run.open.get(step)?.kind === 'intended'
    ? { kind: 'done', result, once: true }
    : { kind: 'done', result }

const told = (run: LiveRun, { events = [] }: Fact<'step.completed'>): LiveRun =>
  events.length === 0 || run.hasTold ? run : changed(run, { hasTold: true })

const retrying = ({ attempt, wakeAt, error, carry }: Fact<'step.retry_scheduled'>): OpenStep => ({
  kind: 'retrying',
  attempt,
  wakeAt,
  error,
  ...(carry === undefined ? {} : { carry }),
})

/** The retry instant is used up: otherwise a step that the code no longer calls would wake its run again and again. */
const retryDue = (run: LiveRun, step: string): LiveRun => {
  const before = run.open.get(step)
  return before?.kind === 'retrying' ? open(run, step, { ...before, wakeAt: null }) : run
}

export const run: Machine<RunState, RunCommand, RunFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    switch (state.kind) {
      case 'none':
        if (command.type !== 'start_run') return refuse('NOT_FOUND', 'the run does not exist')
        return facts(...startFacts(command))
      case 'live':
        return decideLive(state, command)
      case 'ended':
        return decideEnded(state, command)
    }
  },

  evolve(state, fact) {
    switch (state.kind) {
      case 'none':
        return fact.type === 'run.started' ? beginRun(fact) : state
      case 'live':
        return evolveLive(state, fact)
      case 'ended':
        // run-1: only a person's retry opens an ended run again; failed steps get their attempts back.
        return fact.type === 'run.retried' ? reopen(state.last, fact) : state
    }
  },
}

/** The earliest instant at which time alone moves the run on; null if only an answer from outside does (run-3). */
export const wakeAt = (state: RunState): Instant | null => {
  if (state.kind !== 'live' || state.cancel !== null) return null
  if (state.pause !== null) return state.start.deadlineAt
  let earliest = Number.POSITIVE_INFINITY
  const consider = (instant: Instant | null): void => {
    if (instant !== null && instant < earliest) earliest = instant
  }
  consider(state.start.deadlineAt)
  consider(state.retryAt)
  for (const [, step] of state.open.entries()) consider(stepWakeAt(step))
  return Number.isFinite(earliest) ? earliest : null
}

/** The status of a run whose holder parks it (`parked`) or works on it. */
export const statusOf = (state: RunState, parked: boolean): RunStatus => {
  if (state.kind === 'ended') return state.status
  if (state.kind === 'live' && state.cancel !== null) return 'cancelling'
  if (state.kind === 'live' && state.pause !== null && parked) return 'paused'
  return parked ? 'waiting' : 'running'
}
