/**
 * How a run begins: the facts of its birth, and the state they come to.
 *
 * Owns what a start says of a run, and what it takes over from another. Whether it may begin is not asked here (run.ts).
 */
import type { Instant } from './ids.ts'
import { PersistentMap } from './persistent-map.ts'
import type { LiveRun, ReusedStep, RunCommand, RunFact, RunStart } from './run-fact.ts'
import type { OpenStep, SettledStep } from './step.ts'

/** What a run is started with and nothing else: a start may arrive as part of a larger object. */
const startOf = (start: RunStart): RunStart => {
  const { handler, input, cause, parentStep, depth, deadlineAt, startBy, rerun, callback } = start
  const always = { handler, input, cause, parentStep, depth, deadlineAt, startBy }
  if (rerun === undefined && callback === undefined) return always
  return { ...always, ...(rerun !== undefined && { rerun }), ...(callback !== undefined && { callback }) }
}

export const reuseFact = ({ step, of, seq, settled, told }: ReusedStep, at: Instant): RunFact => ({
  ...{ type: 'step.reused', at, step, of, seq, settled },
  ...(told !== undefined && { told }),
})

export const startFacts = ({
  now: at,
  start,
  reuse = [],
}: Extract<RunCommand, { readonly type: 'start_run' }>): readonly RunFact[] => [
  { type: 'run.started', at, ...startOf(start) },
  ...reuse.map((step) => reuseFact(step, at)),
]

export const beginRun = (start: Extract<RunFact, { readonly type: 'run.started' }>): LiveRun => ({
  kind: 'live',
  start: startOf(start),
  startedAt: start.at,
  failures: 0,
  retryAt: null,
  hasTold: false,
  cancel: null,
  pause: null,
  tasks: [],
  open: PersistentMap.empty<string, OpenStep>(),
  settled: PersistentMap.empty<string, SettledStep>(),
})
