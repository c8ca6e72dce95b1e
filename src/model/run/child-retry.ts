/**
 * A child run across the lives of its parent: which run a call continues, and which end of it counts.
 *
 * Owns the rules of a retry that includes children. Never retries a child itself: the parent does when its code calls (engine/step/child.ts).
 *
 * child-retry-1  A repeated call continues the run that it began, if the handler is the same: one child per call in all lives of the parent, with
 *                its stored input, its finished steps and its effect keys.
 * child-retry-2  An end that came before this call requested a retry does not count for the call. One that came after does.
 * child-retry-3  A child is retried when the code of its parent calls it, and not before: the code may have changed since.
 * child-retry-4  The end of a parent ends the runs that it called, unless the call was detached, or a person has retried the child by itself since:
 *                then the child continues whatever its parent does.
 */
import { type ChildId, isTaskId, type RunId } from '#model/kernel/ids.ts'
import type { LiveRun, RunFact } from './fact.ts'
import type { ChildCall, OpenStep, RunCall } from './step.ts'

/** The name of one call in one life of its run; the retried child records it. */
export const callName = ({ retried }: Pick<LiveRun, 'retried'>, step: string): string =>
  `${retried?.times ?? 0} ${step}`

export const callOf = ({ handler, again, detached, ungated }: ChildCall): ChildCall => ({
  handler,
  ...(again !== undefined && { again }),
  ...(detached !== undefined && { detached }),
  ...(ungated !== undefined && { ungated }),
})

/** Null: it calls a task, or nothing. A task is not continued: people are asked again. */
const runCallOf = (open: OpenStep | undefined): RunCall | null =>
  open?.kind === 'calling' && !isTaskId(open.child) ? { ...callOf(open), child: open.child } : null

/** The call that a failed step stores for a retry. */
export const failedCall = (open: OpenStep | undefined): { readonly call?: RunCall } => {
  const call = runCallOf(open)
  return call === null ? {} : { call }
}

/** child-retry-1. The calls of an ended run, for its next life. */
export const recallsOf = ({ recalls, open, settled }: LiveRun): LiveRun['recalls'] => {
  let next = recalls
  const add = (step: string, call: RunCall | null | undefined): void => {
    // This call continued the child of another step: that step is called first, and continues it again.
    if (call != null && (call.again ?? step) === step) next = next.with(step, call)
  }
  for (const [step, one] of settled.entries()) add(step, one.kind === 'failed' ? one.call : null)
  for (const [step, one] of open.entries()) add(step, runCallOf(one))
  return next
}

/** The child that a call of this handler continues, and the step that began it. Null: the call begins a new child. `of`: the step that failed. */
const childToRetry = (
  { recalls, settled }: LiveRun,
  { step, handler, of = step }: { readonly step: string; readonly handler: string; readonly of?: string },
): { readonly child: RunId; readonly again: string } | null => {
  const failed = settled.get(of)
  const call = of === step ? recalls.get(step) : failed?.kind === 'failed' ? failed.call : undefined
  if (call === undefined || call.handler !== handler) return null
  return { child: call.child, again: call.again ?? of }
}

/** child-retry-2. `facts`: those of the child. */
export const hasRetriedFor = (facts: readonly RunFact[], call: string): boolean =>
  facts.some((fact) => fact.type === 'run.retried' && fact.call === call)

/** This many names are enough for a person to see how far the run came. */
const MOST_NAMES = 50

/** The steps that a run has finished so far, those of its failed children included: a retry repeats none of them. */
export const doneSteps = ({ settled }: LiveRun): readonly string[] =>
  settled
    .entries()
    .flatMap(([step, one]) =>
      one.kind === 'failed' ? (one.error.done ?? NONE).map((name) => `${step} / ${name}`) : [step],
    )
    .slice(0, MOST_NAMES)

/** The children that end with a run when it ends or is cancelled: those whose end it has not seen, except detached runs. */
export const calledBy = ({ open, recalls, settled }: LiveRun): readonly ChildId[] => {
  if (open.size === 0 && recalls.size === 0) return NONE
  const called = open
    .entries()
    .flatMap(([, one]) => (one.kind === 'calling' && one.detached !== true ? [one.child] : []))
  const left = recalls
    .entries()
    .flatMap(([step, { child, detached }]) => (detached === true || settled.has(step) || open.has(step) ? [] : [child]))
  return left.length === 0 ? called : [...called, ...left]
}

/** child-retry-4. */
export const endsWithParent = ({ start, retried, cancel }: LiveRun): boolean =>
  cancel === null && start.onParentEnd !== 'detach' && (retried === null || retried.call !== null)

const NONE: readonly never[] = []

/** An object, so that a simulation can replace the rule by a faulty one. */
export const childRules = { childToRetry }
