/**
 * The late answer of an attempt of a `once` step: it no longer counts, because the run was taken over or the attempt timed out.
 *
 * Owns its recording as evidence: a fact of the run and, in the same append, a revision of the task that asks about the step.
 *
 * late-result-1  A late answer is in the run's facts and on the task that asks about the step, or in neither.
 */
import { advanceTask } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { retryStore } from '#engine/core/store-retry.ts'
import { type Change, externalCommand } from '#engine/run/external-command.ts'
import { taskAppend } from '#engine/tasks/append.ts'
import { loadTask } from '#engine/tasks/state.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { LiveRun, RunCommand } from '#model/run/fact.ts'
import { earlierAttempts, stillActing } from '#model/run/uncertain-step.ts'
import { withLateResult } from '#model/task/uncertain-task.ts'
import type { StreamWrite } from '#ports/ledger.ts'

export interface LateAnswer {
  readonly step: string
  readonly attempt: number
  /** The performer's id, as in the intent of the attempt. */
  readonly performer: string
  /** The answer, as stored in a fact; null if the attempt failed with the error. */
  readonly result: Payload | null
  readonly error: Failure | null
}

/** A run that leaves this process's memory. */
interface LeavingRun {
  readonly context: EngineContext
  readonly record: { readonly id: RunId; readonly epoch: number }
  readonly live: LiveRun | null
}

/** Retried for as long as the store fails, because only this process knows the answer. */
export const reportLate = (context: EngineContext, run: RunId, answer: LateAnswer): Promise<void> =>
  retryStore(
    context,
    () => true,
    () => reportOnce(context, run, answer),
  )

const reportOnce = async (context: EngineContext, run: RunId, answer: LateAnswer): Promise<void> => {
  const { step, performer } = answer
  await externalCommand(
    context,
    run,
    (now) => ({ type: 'report_late', now, ...answer }),
    (change) => revisionOf(context, change, step, performer),
  )
}

/** late-result-1: the revision of the task that asks about the step. */
const revisionOf = async (
  context: EngineContext,
  { before: old, state }: Change,
  step: string,
  performer: string,
): Promise<readonly StreamWrite[]> => {
  const open = state.kind === 'live' ? state.open.get(step) : undefined
  if (state.kind !== 'live' || open?.kind !== 'uncertain' || open.task === null) return []
  const wasFrozen = old.kind === 'live' && earlierAttempts(old, step).some(({ id }) => id === performer)
  if (!wasFrozen && (open.late === undefined || open.performer?.id !== performer)) return []
  const { state: before, record } = await loadTask(context, open.task)
  if (before.kind !== 'open') return []
  const asked = {
    step,
    uncertain: open,
    earlier: stillActing(state, step, (worker) => context.worker.leases.isGone(worker)),
  }
  const changed = withLateResult(before.spec, asked)
  const now = Math.max(context.clock.now(), record.facts.at(-1)?.recordedAt ?? 0)
  const { state: after, facts } = advanceTask(before, {
    type: 'revise_task',
    now,
    world: context.taskWorld,
    ...changed,
  })
  if (facts.length === 0) return []
  const [write] = taskAppend(context, record, { before, state: after, facts }, []).append.writes
  return write === undefined ? [] : [write]
}

/** Reports results that were not yet in the ledger when their run left memory: for a `once` step they are evidence. */
export const reportUnrecorded = (run: LeavingRun, requests: readonly { readonly command: RunCommand }[]): void => {
  const { context, record, live } = run
  for (const { command } of requests) {
    if (command.type !== 'complete_step' && command.type !== 'fail_step') continue
    const open = live?.open.get(command.step)
    if (open?.kind !== 'intended' || open.performer === undefined || open.performer.epoch !== record.epoch) continue
    if (command.type === 'fail_step' && command.unanswered === true) continue
    const { step, attempt } = command
    const answer =
      command.type === 'fail_step' ? { result: null, error: command.error } : { result: command.result, error: null }
    void reportLate(context, record.id, { step, attempt, performer: open.performer.id, ...answer }).catch(() => {})
  }
}
