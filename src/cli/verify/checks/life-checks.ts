/**
 * Checks the life of a run along its facts: what may follow an end, a cancel, and the passing of time.
 *
 * Checks each fact against the state before it. Attempts of steps are checked in attempt-checks.ts; what must hold between facts in
 * rest-checks.ts.
 */
import type { Findings, Place } from '#cli/verify/report.ts'
import type { Fact } from '#cli/verify/source/fact.ts'
import type { RunState, Step } from './run-state.ts'

const EVIDENCE: ReadonlySet<string> = new Set(['step.late_result'])
const ACCEPTED_ENDS: ReadonlySet<string> = new Set(['success', 'partial'])
const STARTS: ReadonlySet<string> = new Set([
  'step.intended',
  'step.completed',
  'timer.set',
  'wait.opened',
  'child.started',
  'step.reused',
  'run.completed',
])

/** Facts that a paused run does not record: its code does not run, and its timers do not fire. */
const HELD: ReadonlySet<string> = new Set([
  ...['step.intended', 'step.reused', 'timer.set', 'wait.opened', 'child.started'],
  ...['run.retry_due', 'step.retry_due', 'timer.fired', 'wait.timed_out'],
])

export const checkLife = (findings: Findings, state: RunState, fact: Fact, place: Place): void => {
  findings.expect(
    'V4',
    state.started || fact.type === 'run.started',
    place,
    () => `${fact.type} comes before run.started`,
  )
  findings.expect('V5', mayFollow(state, fact), place, () =>
    state.end === null
      ? `${fact.type} on a run that has not ended`
      : `${fact.type} after the run had ended with ${state.end}`,
  )
  if (STARTS.has(fact.type)) {
    findings.expect(
      'V8',
      !state.cancelled || state.end !== null,
      place,
      () => `${fact.type} after a cancel was requested`,
    )
  }
  if (HELD.has(fact.type))
    findings.expect('V8', !state.isHeld || state.end !== null, place, () => `${fact.type} while the run was paused`)
}

/** An ended run may record evidence, and a person's retry if its end was not accepted. */
const mayFollow = (state: RunState, fact: Fact): boolean => {
  if (fact.type === 'run.started') return !state.started
  if (fact.type === 'run.retried') return state.end !== null && !ACCEPTED_ENDS.has(state.end)
  return state.end === null || EVIDENCE.has(fact.type)
}

/** V24: what time alone causes is never early. `at` is the instant at which the fact was recorded. */
export const checkTime = (findings: Findings, state: RunState, fact: Fact, at: number, place: Place): void => {
  const due = dueInstant(state, fact)
  if (due === undefined) return
  findings.expect('V24', due !== null && at >= due, place, () =>
    due === null ? `${fact.type}, but nothing was due` : `${fact.type} at ${at}, before its instant ${due}`,
  )
}

/** The earliest instant at which this fact may be recorded; null: never. Undefined: it does not depend on time. */
const dueInstant = (state: RunState, fact: Fact): number | null | undefined => {
  switch (fact.type) {
    case 'run.expired':
      return state.startBy
    case 'run.retry_due':
      return state.retryAt
    case 'step.retry_due':
    case 'timer.fired':
    case 'wait.timed_out':
      return dueInstantOfStep(state.step(fact.step), fact.type)
    default:
      return undefined
  }
}

const dueInstantOfStep = (
  { open, result }: Readonly<Step>,
  type: 'step.retry_due' | 'timer.fired' | 'wait.timed_out',
): number | null | undefined => {
  // A second result is reported by V7.
  if (result !== null) return undefined
  if (type === 'wait.timed_out') return open?.kind === 'waiting' ? open.wait.timeoutAt : null
  return open?.kind === (type === 'timer.fired' ? 'sleeping' : 'retrying') ? open.wakeAt : null
}
