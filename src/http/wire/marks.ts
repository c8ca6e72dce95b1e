/**
 * A fact as a mark of the timeline: the new state of its step or run, who executes it, and the measured duration if there is one.
 *
 * Owns which state a fact leads to. Pure; leaves out long values: they are read for one step at a time (step-detail.ts).
 */
import type { Mark } from '#http/openapi/api.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isTaskId } from '#model/kernel/ids.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { RunFact, RunFactType } from '#model/run/fact.ts'
import type { SealedFact } from '#ports/ledger.ts'
import { durationIn, failureIn } from './agent-journal.ts'
import { callIn } from './cost-totals.ts'
import { describeFact, skipOf } from './fact-text.ts'
import { isoTime } from './time.ts'

export const STATES = [
  'work',
  'human',
  'event',
  'child',
  'sleep',
  'retry',
  'doubt',
  'paused',
  'done',
  'failed',
  'skipped',
] as const
export type State = (typeof STATES)[number]

type Rule<Type extends RunFactType> = State | null | ((fact: Extract<RunFact, { readonly type: Type }>) => State | null)

/** The state after each type of fact. Null: it does not change. */
const BECOMES: { readonly [Type in RunFactType]: Rule<Type> } = {
  'run.started': 'work',
  'run.retry_scheduled': 'retry',
  'run.retry_due': 'work',
  'run.paused': 'paused',
  'run.resumed': 'work',
  'run.entered': 'work',
  'run.handed_over': null,
  'run.cancel_requested': null,
  'run.completed': 'done',
  'run.failed': 'failed',
  'run.cancelled': 'failed',
  'run.expired': 'failed',
  'run.quarantined': 'failed',
  'run.retried': 'work',
  'step.intended': 'work',
  'step.reused': 'done',
  'step.completed': (fact) => {
    if (skipOf(fact) !== null) return 'skipped'
    return failureIn(fact) === null ? 'done' : 'failed'
  },
  'step.retry_scheduled': 'retry',
  'step.retry_due': 'work',
  'step.failed': 'failed',
  'step.uncertain': 'doubt',
  'step.resolved': ({ verdict }) => (verdict === 'happened' ? 'done' : verdict === 'abort' ? 'failed' : 'work'),
  'step.late_result': null,
  'timer.set': 'sleep',
  'timer.fired': 'done',
  'wait.opened': 'event',
  'wait.received': 'done',
  'wait.timed_out': 'done',
  'child.started': ({ child }) => (isTaskId(child) ? 'human' : 'child'),
  'child.ended': ({ end }) => (end.kind === 'done' ? 'done' : 'failed'),
}

const becomes = (fact: RunFact): State | null => {
  const rule = BECOMES[fact.type] as State | null | ((fact: RunFact) => State | null)
  return typeof rule === 'function' ? rule(fact) : rule
}

/** Returns the modality of a handler; null: the system does not know the handler now. */
export type ModalityOf = (handler: string) => Modality | null

const handOf = (fact: RunFact, known: ModalityOf): Modality | null => {
  if (fact.type === 'run.started') return known(fact.handler)
  if (fact.type === 'child.started') return isTaskId(fact.child) ? 'human' : known(fact.handler)
  if ('step' in fact && fact.step.startsWith('agent/model')) return 'agent'
  return callIn(fact) === null ? null : 'agent'
}

const failureOf = (fact: RunFact): string | null => {
  if ('error' in fact) return fact.error?.code ?? null
  if (fact.type === 'child.ended') return fact.end.kind === 'failed' ? fact.end.error.code : null
  return fact.type === 'step.completed' ? (failureIn(fact)?.code ?? null) : null
}

const childOf = (fact: RunFact): string | null => {
  if (fact.type === 'child.started') return fact.child
  return fact.type === 'step.uncertain' ? (fact.task ?? null) : null
}

/** Leaves out empty members, because a timeline has thousands of marks. */
const present = <Members extends object>(
  members: Members,
): Partial<{ [Name in keyof Members]: NonNullable<Members[Name]> }> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as never

export const markOf = (sealed: SealedFact, seq: number, known: ModalityOf): Mark => {
  const fact = readRunFact(sealed)
  return {
    seq,
    type: sealed.type,
    at: isoTime(sealed.recordedAt),
    text: describeFact(fact),
    ...present({
      step: 'step' in fact ? fact.step : null,
      becomes: becomes(fact),
      attempt: 'attempt' in fact ? fact.attempt : null,
      hand: handOf(fact, known),
      child: childOf(fact),
      until: 'wakeAt' in fact ? isoTime(fact.wakeAt) : null,
      ms: durationIn(fact),
      code: failureOf(fact),
    }),
  }
}
