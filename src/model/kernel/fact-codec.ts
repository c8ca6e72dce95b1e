/**
 * Facts in their stored form: the type and the time in fields of their own, the rest as exact JSON text.
 *
 * Owns the translation both ways and the list of known fact types. A type that this version does not know is refused, never folded.
 */
import type { GateFact, GateFactType } from '#model/flow/gate-fact.ts'
import type { QueueFact, QueueFactType } from '#model/flow/queue-fact.ts'
import type { RunFact, RunFactType } from '#model/run/fact.ts'
import type { ScheduleFact, ScheduleFactType } from '#model/schedule/fact.ts'
import type { SessionFact, SessionFactType } from '#model/session/session.ts'
import type { TaskFact, TaskFactType } from '#model/task/fact.ts'
import { TrihandError } from './errors.ts'
import type { Instant } from './ids.ts'

export interface WrittenFact {
  readonly type: string
  readonly recordedAt: Instant
  readonly body: string
}

const RUN_FACTS: Readonly<Record<RunFactType, true>> = {
  'run.started': true,
  'run.retry_scheduled': true,
  'run.retry_due': true,
  'run.paused': true,
  'run.resumed': true,
  'run.entered': true,
  'run.handed_over': true,
  'run.cancel_requested': true,
  'run.completed': true,
  'run.failed': true,
  'run.cancelled': true,
  'run.expired': true,
  'run.quarantined': true,
  'run.retried': true,
  'step.intended': true,
  'step.completed': true,
  'step.retry_scheduled': true,
  'step.retry_due': true,
  'step.failed': true,
  'step.uncertain': true,
  'step.resolved': true,
  'step.late_result': true,
  'step.reused': true,
  'timer.set': true,
  'timer.fired': true,
  'wait.opened': true,
  'wait.received': true,
  'wait.timed_out': true,
  'child.started': true,
  'child.ended': true,
}

const SESSION_FACTS: Readonly<Record<SessionFactType, true>> = {
  'session.created': true,
  'session.changed': true,
  'session.checkpointed': true,
  'session.ended': true,
}

const GATE_FACTS: Readonly<Record<GateFactType, true>> = {
  'gate.opened': true,
  'gate.listened': true,
  'gate.read': true,
  'gate.turned': true,
  'gate.start_given': true,
  'gate.start_made': true,
  'gate.start_delayed': true,
  'gate.asked': true,
  'gate.followed': true,
  'gate.unfollowed': true,
  'gate.keys_kept': true,
  'trigger.suppressed': true,
  'gate.held': true,
  'gate.released': true,
  'gate.counted': true,
  'gate.window_opened': true,
  'gate.window_joined': true,
  'gate.window_closed': true,
  'gate.burst_extended': true,
  'gate.buffered': true,
  'gate.called': true,
  'gate.started': true,
  'gate.withdrawn': true,
  'gate.cancel_wanted': true,
  'gate.run_ended': true,
  'gate.paused': true,
  'gate.resumed': true,
  'gate.checkpointed': true,
}

const SCHEDULE_FACTS: Readonly<Record<ScheduleFactType, true>> = {
  'schedule.created': true,
  'schedule.changed': true,
  'schedule.fired': true,
  'schedule.buffered': true,
  'schedule.skipped': true,
  'schedule.cancel_wanted': true,
  'schedule.run_ended': true,
  'schedule.adapted': true,
  'schedule.requested': true,
  'schedule.paused': true,
  'schedule.resumed': true,
  'schedule.ended': true,
  'schedule.checkpointed': true,
}

const QUEUE_FACTS: Readonly<Record<QueueFactType, true>> = {
  'queue.opened': true,
  'queue.put': true,
  'queue.dropped': true,
  'queue.passed': true,
  'queue.cycle_started': true,
  'queue.cycle_ended': true,
  'queue.revived': true,
  'queue.checkpointed': true,
}

const TASK_FACTS: Readonly<Record<TaskFactType, true>> = {
  'task.opened': true,
  'task.viewed': true,
  'task.claimed': true,
  'task.unclaimed': true,
  'task.draft_saved': true,
  'task.follow_up_set': true,
  'task.reassigned': true,
  'task.escalated': true,
  'task.reminded': true,
  'task.timed_out': true,
  'task.edited': true,
  'task.voted': true,
  'task.acted': true,
  'task.revision_requested': true,
  'task.revised': true,
  'task.decided': true,
  'task.expired': true,
  'task.withdrawn': true,
  'task.checkpointed': true,
}

/** Takes a fact of any machine. */
export const writeFact = <Fact extends { readonly type: string; readonly at: Instant }>(fact: Fact): WrittenFact => {
  // A copy with two members blanked is several times faster than a rest pattern, and JSON leaves undefined members out.
  return { type: fact.type, recordedAt: fact.at, body: JSON.stringify({ ...fact, type: undefined, at: undefined }) }
}

/** Replaces facts whose seals do not fit: the body is the reason, and no machine reads it. */
export const BROKEN_FACT = 'fact.broken'

const readAs = <Fact>(known: object, written: WrittenFact): Fact => {
  if (!Object.hasOwn(known, written.type)) {
    if (written.type === BROKEN_FACT) throw new TrihandError('FACT_BROKEN', JSON.parse(written.body) as string)
    throw new TrihandError('FACT_UNKNOWN', `fact type ${written.type} is not known to this version`)
  }
  // Sets the members on the object that was just parsed: a copy of each fact would double the cost of a fold.
  const fact = JSON.parse(written.body) as Record<string, unknown>
  fact['type'] = written.type
  fact['at'] = written.recordedAt
  return fact as Fact
}

export const readRunFact = (written: WrittenFact): RunFact => readAs<RunFact>(RUN_FACTS, written)
export const readSessionFact = (written: WrittenFact): SessionFact => readAs<SessionFact>(SESSION_FACTS, written)
export const readGateFact = (written: WrittenFact): GateFact => readAs<GateFact>(GATE_FACTS, written)
export const readScheduleFact = (written: WrittenFact): ScheduleFact => readAs<ScheduleFact>(SCHEDULE_FACTS, written)
export const readQueueFact = (written: WrittenFact): QueueFact => readAs<QueueFact>(QUEUE_FACTS, written)
export const readTaskFact = (written: WrittenFact): TaskFact => readAs<TaskFact>(TASK_FACTS, written)
