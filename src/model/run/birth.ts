/**
 * How a run begins: its first facts, and the state that they fold into.
 *
 * Owns what a start records, and what it takes over from another run. Whether the run may begin is not checked here (run.ts).
 */
import { NOTHING_CONSUMED } from '#model/event/consumed.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { PersistentMap } from '#model/kernel/persistent-map.ts'
import type { LiveRun, ReusedStep, RunCommand, RunFact, RunStart } from './fact.ts'
import type { OpenStep, Performer, RunCall, SettledStep } from './step.ts'

const NONE: readonly never[] = []

/** Copies the members of a start and no others: it may arrive as part of a larger object. */
const startOf = (start: RunStart): RunStart => {
  const { handler, input, cause, parentStep, depth, deadlineAt, startBy } = start
  const always = { handler, input, cause, parentStep, depth, deadlineAt, startBy }
  return isPlain(start) ? always : { ...always, ...extrasOf(start) }
}

/** True for a start without the options that few runs have. */
const isPlain = ({ rerun, callback, onParentEnd, terms }: RunStart): boolean =>
  rerun === undefined && callback === undefined && onParentEnd === undefined && terms === undefined

const extrasOf = ({
  rerun,
  callback,
  onParentEnd,
  terms,
}: RunStart): Pick<RunStart, 'rerun' | 'callback' | 'onParentEnd' | 'terms'> => ({
  ...(terms !== undefined && { terms }),
  ...(onParentEnd !== undefined && { onParentEnd }),
  ...(rerun !== undefined && { rerun }),
  ...(callback !== undefined && { callback }),
})

const startFact = (start: RunStart, at: Instant): RunFact => {
  const { handler, input, cause, parentStep, depth, deadlineAt, startBy } = start
  const always = { type: 'run.started', at, handler, input, cause, parentStep, depth, deadlineAt, startBy } as const
  return isPlain(start) ? always : { ...always, ...extrasOf(start) }
}

export const reuseFact = ({ step, of, seq, settled, told }: ReusedStep, at: Instant): RunFact => ({
  ...{ type: 'step.reused', at, step, of, seq, settled },
  ...(told !== undefined && { told }),
})

export const startFacts = ({
  now: at,
  start,
  reuse = NONE,
}: Extract<RunCommand, { readonly type: 'start_run' }>): readonly RunFact[] =>
  reuse.length === 0 ? [startFact(start, at)] : [startFact(start, at), ...reuse.map((step) => reuseFact(step, at))]

export const beginRun = (start: Extract<RunFact, { readonly type: 'run.started' }>): LiveRun => ({
  kind: 'live',
  start: startOf(start),
  startedAt: start.at,
  retried: null,
  failures: 0,
  retryAt: null,
  hasTold: false,
  version: null,
  cancel: null,
  pause: null,
  tasks: NONE,
  recalls: PersistentMap.empty<string, RunCall>(),
  open: PersistentMap.empty<string, OpenStep>(),
  settled: PersistentMap.empty<string, SettledStep>(),
  frozen: PersistentMap.empty<string, readonly Performer[]>(),
  consumed: NOTHING_CONSUMED,
})
