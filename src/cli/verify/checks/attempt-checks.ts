/**
 * Checks the attempts of a run's steps: one accepted result, attempts that are counted and wait for their delay, and effects that happen
 * once.
 *
 * Checks each fact against the state before it. `owners` knows whether a key is shared with a step of another run.
 */
import type { Findings, Place } from '#cli/verify/report.ts'
import type { Fact, StepFact } from '#cli/verify/source/fact.ts'
import type { EffectKeys } from './effect-keys.ts'
import type { RunState, Step } from './run-state.ts'

type Kind = NonNullable<Step['open']>['kind']

/** Facts that begin a step: a second one would lose the first. */
const BEGINS: ReadonlySet<string> = new Set(['timer.set', 'wait.opened', 'child.started', 'step.reused'])
const OPENS: ReadonlySet<string> = new Set([...BEGINS, 'step.intended', 'step.uncertain', 'step.retry_scheduled'])
const RESULTS: ReadonlySet<string> = new Set([
  'step.completed',
  'step.failed',
  'step.resolved',
  'step.reused',
  'timer.fired',
  'wait.received',
  'wait.timed_out',
  'child.ended',
])
/** The state in which a step must be to receive an answer from outside. */
const ANSWERS: ReadonlyMap<string, Kind> = new Map([
  ['wait.received', 'waiting'],
  ['child.ended', 'calling'],
  ['step.resolved', 'uncertain'],
])

export const checkAttempt = (findings: Findings, state: RunState, fact: Fact, at: number, place: Place): void => {
  if (fact.type === 'run.retry_scheduled') return checkRunRetry(findings, state, fact, at, place)
  // Nothing is checked after the end of a run; facts after it are reported by V5.
  if (!('step' in fact) || state.end !== null) return
  const step = state.step(fact.step)
  checkResults(findings, step, fact, place)
  if (step.result !== null) return
  checkCount(findings, step, fact, at, place)
  checkUncertain(findings, step, fact, place)
}

const checkResults = (findings: Findings, step: Readonly<Step>, fact: StepFact, place: Place): void => {
  if (!RESULTS.has(fact.type) && !OPENS.has(fact.type)) return
  const { open, result } = step
  findings.expect(
    'V7',
    result === null,
    place,
    () => `${fact.type} for step ${fact.step}, which already has its result`,
  )
  if (result !== null) return
  if (BEGINS.has(fact.type)) {
    findings.expect('V7', open === null, place, () => `${fact.type} for step ${fact.step}, which has already started`)
  }
  const answered = ANSWERS.get(fact.type)
  if (answered !== undefined) {
    findings.expect(
      'V7',
      open?.kind === answered,
      place,
      () => `${fact.type} for step ${fact.step}, which is not ${answered}`,
    )
  }
}

const checkCount = (findings: Findings, step: Readonly<Step>, fact: StepFact, at: number, place: Place): void => {
  if (!('attempt' in fact)) return
  findings.expect(
    'V9',
    fact.attempt === step.attempts + 1,
    place,
    () => `step ${fact.step} records attempt ${fact.attempt} after ${step.attempts} failed ones`,
  )
  findings.expect(
    'V9',
    at >= step.notBefore,
    place,
    () => `step ${fact.step} continued at ${at}, before its retry at ${step.notBefore}`,
  )
  if (fact.type === 'step.retry_scheduled') checkDelay(findings, fact.wakeAt, at, place)
}

const checkRunRetry = (
  findings: Findings,
  state: RunState,
  fact: Extract<Fact, { readonly type: 'run.retry_scheduled' }>,
  at: number,
  place: Place,
): void => {
  findings.expect(
    'V9',
    fact.attempt === state.failures + 1,
    place,
    () => `the run records attempt ${fact.attempt} after ${state.failures} failed ones`,
  )
  checkDelay(findings, fact.wakeAt, at, place)
}

const checkDelay = (findings: Findings, wakeAt: number, at: number, place: Place): void =>
  findings.expect('V9', wakeAt >= at, place, () => `a retry was scheduled at ${at} for ${wakeAt}, which had passed`)

/** V10: an intended step is not attempted again, and an uncertain one is settled by a person only. */
const checkUncertain = (findings: Findings, step: Readonly<Step>, fact: StepFact, place: Place): void => {
  const kind = step.open?.kind ?? null
  if (fact.type === 'step.intended') {
    findings.expect(
      'V10',
      kind === null || kind === 'retrying',
      place,
      () => `step ${fact.step} is intended again although it is ${kind} and no person answered run_again`,
    )
  }
  if (fact.type === 'step.completed' || fact.type === 'step.failed' || fact.type === 'step.retry_scheduled') {
    findings.expect('V10', kind !== 'uncertain', place, () => `${fact.type} for step ${fact.step}, which is uncertain`)
  }
}

/** V11: one key for all attempts of a step, and no other step has it. */
export const checkEffectKey = (
  findings: Findings,
  state: RunState,
  fact: Fact,
  keys: EffectKeys,
  place: Place,
): void => {
  if (fact.type !== 'step.intended' || place.stream === null) return
  const { effectKey } = state.step(fact.step)
  findings.expect(
    'V11',
    effectKey === null || effectKey === fact.effectKey,
    place,
    () => `step ${fact.step} changes its effect key from ${effectKey} to ${fact.effectKey}`,
  )
  const other = keys.claim(fact.effectKey, place.stream, fact.step)
  findings.expect(
    'V11',
    other === null,
    place,
    () => `step ${fact.step} shares its effect key ${fact.effectKey} with ${other}`,
  )
}
