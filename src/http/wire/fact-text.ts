/**
 * Facts as text for people: one sentence for each fact of a run, and what an open step waits for.
 *
 * Owns the wording for every screen. Returns plain text: the caller escapes it for a page or a terminal.
 */
import { missing, type WaitSpec } from '#model/event/wait.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { type Instant, isTaskId } from '#model/kernel/ids.ts'
import { skipIn } from '#model/plan/end.ts'
import type { RunFact, RunFactType, RunStart } from '#model/run/fact.ts'
import type { OpenStep } from '#model/run/step.ts'
import { isoTime } from './time.ts'

const failure = (error: Failure): string => `${error.code}: ${error.message}`

const nth = (attempt: number): string => (attempt > 1 ? ` at attempt ${attempt}` : '')

const started = (start: RunStart): string => {
  if (start.rerun !== undefined) {
    const { of, from, by } = start.rerun
    return `${by} ran ${of} again${from === null ? '' : ` from ${from} on`}`
  }
  if (start.parentStep !== null) return `${start.handler} was called by step ${start.parentStep} of its parent`
  switch (start.input.kind) {
    case 'event':
      return `an event started ${start.handler}`
    case 'events':
      return `${start.input.sequences.length} events together started ${start.handler}`
    case 'scheduled':
      return `schedule ${start.input.occasion.schedule} started ${start.handler}`
    case 'given':
      return `${start.handler} was called`
  }
}

const wanted = (wait: WaitSpec): string => {
  const types = wait.types.join(wait.mode === 'any' ? ' or ' : ' and ')
  const match = wait.match === null ? '' : ` with ${wait.match.path} = ${wait.match.value}`
  const condition = (wait.condition ?? null) === null ? '' : ` if ${wait.condition}`
  const until = wait.timeoutAt === null ? '' : `, until ${isoTime(wait.timeoutAt)}`
  return `${types}${match}${condition}${until}`
}

/** Why a step of a plan was skipped; null: it was not. */
export const skipOf = (fact: RunFact): ReturnType<typeof skipIn> =>
  fact.type === 'step.completed' && 'value' in fact.result ? skipIn(fact.result.value) : null

type Telling = { readonly [Type in RunFactType]: (fact: Extract<RunFact, { readonly type: Type }>) => string }

const tryAgain = (fact: { readonly attempt: number; readonly error: Failure; readonly wakeAt: Instant }): string =>
  `attempt ${fact.attempt} failed, ${failure(fact.error)}; the next one is at ${isoTime(fact.wakeAt)}`

const DESCRIPTIONS: Telling = {
  'run.started': (fact) => started(fact),
  'run.retry_scheduled': tryAgain,
  'run.retry_due': () => 'the next attempt is due',
  'run.paused': ({ by, reason }) => `${by} paused it${reason === null ? '' : `: ${reason}`}`,
  'run.resumed': ({ by }) => `${by} resumed it`,
  'run.entered': () => 'started in time',
  'run.handed_over': ({ from, to }) => `version ${to} of the code continues it, after version ${from}`,
  'run.cancel_requested': (fact) => `${fact.by} requested a cancel, ${failure(fact.error)}`,
  'run.completed': (fact) => (fact.status === 'success' ? 'completed' : 'completed in part'),
  'run.failed': (fact) => `failed, ${failure(fact.error)}`,
  'run.cancelled': (fact) => `cancelled, ${failure(fact.error)}`,
  'run.expired': (fact) => `expired, ${failure(fact.error)}`,
  'run.quarantined': (fact) => `put into quarantine, ${failure(fact.error)}`,
  'run.retried': (fact) => `${fact.by} retried it; completed steps are kept`,
  'step.intended': (fact) => `starts${nth(fact.attempt)}, at most once`,
  'step.completed': (fact) => {
    const skip = skipOf(fact)
    return skip === null ? `done${nth(fact.attempt)}` : `skipped: ${skip.reason ?? 'no reason recorded'}`
  },
  'step.retry_scheduled': tryAgain,
  'step.retry_due': () => 'the next attempt is due',
  'step.failed': (fact) => `failed${nth(fact.attempt)}, ${failure(fact.error)}`,
  'step.uncertain': (fact) => `outcome uncertain: ${fact.reason}`,
  'step.resolved': (fact) => `${fact.by} answered: ${fact.verdict.replaceAll('_', ' ')}`,
  'step.late_result': (fact) => `a result of attempt ${fact.attempt} came too late and is kept as evidence`,
  'step.reused': ({ of, settled }) => `${settled.kind === 'failed' ? 'failed' : 'done'} in ${of}; the result is kept`,
  'timer.set': (fact) => `sleeps until ${isoTime(fact.wakeAt)}`,
  'timer.fired': () => 'woke up',
  'wait.opened': (fact) => `waits for ${wanted(fact.wait)}`,
  'wait.received': ({ event, others = [] }) =>
    others.length === 0
      ? `received ${event.type}, event ${event.sequence}`
      : `received ${others.length + 1} events, ${event.sequence} to ${others.at(-1)?.sequence}`,
  'wait.timed_out': () => 'timed out',
  'child.started': (fact) =>
    isTaskId(fact.child) ? `asked people: ${fact.child}` : `called ${fact.handler} as ${fact.child}`,
  'child.ended': ({ child, end }) =>
    end.kind === 'done' ? `${child} completed` : `${child} failed, ${failure(end.error)}`,
}

/** Returns one sentence, without the name of the step (`fact.step`). */
export const describeFact = (fact: RunFact): string => (DESCRIPTIONS[fact.type] as (fact: RunFact) => string)(fact)

/** Describes what an open step waits for, and what can end the wait. */
export const describeOpenStep = (step: OpenStep): { readonly kind: OpenStep['kind']; readonly text: string } => {
  switch (step.kind) {
    case 'intended':
      return { kind: step.kind, text: 'a running step that happens at most once' }
    case 'uncertain':
      return {
        kind: step.kind,
        text: `an answer to "Did it happen?"${step.task === null ? '' : ` in ${step.task}`}: ${step.reason}`,
      }
    case 'retrying':
      return { kind: step.kind, text: `the next attempt after ${failure(step.error)}` }
    case 'sleeping':
      return { kind: step.kind, text: `its timer at ${isoTime(step.wakeAt)}` }
    case 'waiting':
      return { kind: step.kind, text: `an event: ${wanted({ ...step.wait.spec, types: missing(step.wait) })}` }
    case 'calling':
      return { kind: step.kind, text: isTaskId(step.child) ? `people: ${step.child}` : `its child ${step.child}` }
  }
}
