/**
 * One plausible example of every fact and every command of a run, for tests to adapt.
 *
 * Owns the defaults of the model's stories: everything happens to step `mail`, first attempt, at instant 10. The two tables are complete by
 * type: a new fact or command does not compile until it has an example here.
 */
import type { WaitSpec } from '#model/event/wait.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { runId, taskId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { inline } from '#model/kernel/payload.ts'
import type { LiveRun, RunCommand, RunFact, RunStart, RunState } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'

export type FactOf<Type extends RunFact['type']> = Extract<RunFact, { readonly type: Type }>
export type CommandOf<Type extends RunCommand['type']> = Extract<RunCommand, { readonly type: Type }>

export const CHILD = runId('00000000-0000-7000-8000-000000000001')
export const OTHER_CHILD = runId('00000000-0000-7000-8000-000000000002')
/** Asks a person whether step `mail` happened. */
export const TASK = taskId('00000000-0000-7000-8000-000000000003')
export const BROKEN: Failure = { code: 'FUNCTION_FAILED', message: 'it broke' }
export const CANCELLED: Failure = { code: 'RUN_CANCELLED', message: 'ana cancelled it' }
export const TOO_LATE: Failure = { code: 'RUN_DEADLINE', message: 'the run passed its deadline' }
export const RETRY: RetryPolicy = { maxAttempts: 3, baseMs: 1_000, factor: 2, maxMs: 10_000 }
/** The first delay if the random roll is one half. */
export const FIRST_DELAY_MS = 500

export const aStart = (changes: Partial<RunStart> = {}): RunStart => ({
  handler: 'send-mail',
  input: { kind: 'given', payload: inline({ to: 'ana' }) },
  cause: null,
  parentStep: null,
  depth: 0,
  deadlineAt: null,
  startBy: null,
  ...changes,
})

export const aWait = (changes: Partial<WaitSpec> = {}): WaitSpec => ({
  mode: 'any',
  types: ['mail.read'],
  match: null,
  condition: null,
  timeoutAt: null,
  base: 100,
  ...changes,
})

const onStep = { at: 10, step: 'mail' } as const
const FACTS: { readonly [Type in RunFact['type']]: FactOf<Type> } = {
  'run.started': { type: 'run.started', at: 10, ...aStart() },
  'run.retry_scheduled': {
    type: 'run.retry_scheduled',
    at: 10,
    attempt: 1,
    error: BROKEN,
    wakeAt: 10 + FIRST_DELAY_MS,
  },
  'run.retry_due': { type: 'run.retry_due', at: 10 },
  'run.paused': { type: 'run.paused', at: 10, by: 'ana', reason: null },
  'run.resumed': { type: 'run.resumed', at: 10, by: 'ana' },
  'run.entered': { type: 'run.entered', at: 10 },
  'run.handed_over': { type: 'run.handed_over', at: 10, from: 'v1', to: 'v2' },
  'run.cancel_requested': { type: 'run.cancel_requested', at: 10, by: 'ana', error: CANCELLED },
  'run.completed': { type: 'run.completed', at: 10, status: 'success', output: inline('sent') },
  'run.failed': { type: 'run.failed', at: 10, error: BROKEN },
  'run.cancelled': { type: 'run.cancelled', at: 10, error: CANCELLED },
  'run.expired': {
    type: 'run.expired',
    at: 10,
    error: { code: 'RUN_START_EXPIRED', message: 'the run did not start in time' },
  },
  'run.quarantined': { type: 'run.quarantined', at: 10, error: { code: 'RUN_QUARANTINED', message: 'five crashes' } },
  'run.retried': { type: 'run.retried', at: 10, by: 'ana' },
  'step.intended': { ...onStep, type: 'step.intended', attempt: 1, effectKey: 'th1_key' },
  'step.completed': { ...onStep, type: 'step.completed', attempt: 1, result: inline('ok') },
  'step.retry_scheduled': {
    ...onStep,
    type: 'step.retry_scheduled',
    attempt: 1,
    error: BROKEN,
    wakeAt: 10 + FIRST_DELAY_MS,
  },
  'step.retry_due': { ...onStep, type: 'step.retry_due' },
  'step.failed': { ...onStep, type: 'step.failed', attempt: 1, error: BROKEN },
  'step.uncertain': { ...onStep, type: 'step.uncertain', attempt: 1, reason: 'the worker is gone', task: TASK },
  'step.resolved': { ...onStep, type: 'step.resolved', verdict: 'happened', by: 'ana', result: inline('seen') },
  'step.late_result': { ...onStep, type: 'step.late_result', attempt: 1, result: inline('ok'), error: null },
  'step.reused': { ...onStep, type: 'step.reused', of: CHILD, seq: 1, settled: { kind: 'done', result: inline('ok') } },
  'timer.set': { ...onStep, type: 'timer.set', wakeAt: 50 },
  'timer.fired': { ...onStep, type: 'timer.fired' },
  'wait.opened': { ...onStep, type: 'wait.opened', wait: aWait() },
  'wait.received': { ...onStep, type: 'wait.received', event: { type: 'mail.read', sequence: 101 } },
  'wait.timed_out': { ...onStep, type: 'wait.timed_out' },
  'child.started': { ...onStep, type: 'child.started', child: CHILD, handler: 'print' },
  'child.ended': { ...onStep, type: 'child.ended', child: CHILD, end: { kind: 'done', result: inline('printed') } },
}

const toStep = { now: 10, step: 'mail' } as const
const COMMANDS: { readonly [Type in RunCommand['type']]: CommandOf<Type> } = {
  start_run: { type: 'start_run', now: 10, start: aStart() },
  finish_run: { type: 'finish_run', now: 10, status: 'success', output: inline('sent'), events: [] },
  fail_run: { type: 'fail_run', now: 10, error: BROKEN, retryable: true, retry: RETRY, roll: 0.5 },
  cancel_run: { type: 'cancel_run', now: 10, by: 'ana', error: CANCELLED, idle: true },
  confirm_cancel: { type: 'confirm_cancel', now: 10 },
  pause_run: { type: 'pause_run', now: 10, by: 'ana', reason: null },
  resume_run: { type: 'resume_run', now: 10, by: 'ana' },
  enter_run: { type: 'enter_run', now: 10 },
  hand_over: { type: 'hand_over', now: 10, from: 'v1', to: 'v2' },
  retry_run: { type: 'retry_run', now: 10, by: 'ana' },
  quarantine_run: { type: 'quarantine_run', now: 10, error: { code: 'RUN_QUARANTINED', message: 'five crashes' } },
  pass_time: { type: 'pass_time', now: 10 },
  intend_step: { ...toStep, type: 'intend_step', effectKey: 'th1_key' },
  complete_step: { ...toStep, type: 'complete_step', attempt: 1, result: inline('ok'), events: [] },
  fail_step: {
    ...toStep,
    type: 'fail_step',
    attempt: 1,
    error: BROKEN,
    retryable: true,
    definite: false,
    effect: 'idempotent',
    retry: RETRY,
    roll: 0.5,
  },
  mark_uncertain: { ...toStep, type: 'mark_uncertain', reason: 'the worker is gone', isGone: true, task: TASK },
  resolve_step: { ...toStep, type: 'resolve_step', verdict: 'happened', by: 'ana', result: inline('seen'), task: TASK },
  report_late: { ...toStep, type: 'report_late', attempt: 1, result: inline('ok'), error: null },
  reuse_step: {
    ...toStep,
    type: 'reuse_step',
    of: CHILD,
    seq: 1,
    settled: { kind: 'done', result: inline('ok') },
  },
  set_timer: { ...toStep, type: 'set_timer', wakeAt: 50 },
  open_wait: { ...toStep, type: 'open_wait', wait: aWait() },
  receive_event: { ...toStep, type: 'receive_event', event: { type: 'mail.read', sequence: 101 } },
  start_child: { ...toStep, type: 'start_child', child: CHILD, handler: 'print' },
  end_child: { ...toStep, type: 'end_child', child: CHILD, end: { kind: 'done', result: inline('printed') } },
}

export const FACT_TYPES = Object.keys(FACTS) as readonly RunFact['type'][]
export const COMMAND_TYPES = Object.keys(COMMANDS) as readonly RunCommand['type'][]

export const fact = <Type extends RunFact['type']>(
  type: Type,
  changes: Partial<Omit<FactOf<Type>, 'type'>> = {},
): FactOf<Type> => ({
  ...FACTS[type],
  ...changes,
})

export const command = <Type extends RunCommand['type']>(
  type: Type,
  changes: Partial<Omit<CommandOf<Type>, 'type'>> = {},
): CommandOf<Type> => ({ ...COMMANDS[type], ...changes })

export const started = (changes: Partial<RunStart> = {}): FactOf<'run.started'> => fact('run.started', changes)

export const stateAfter = (...history: readonly RunFact[]): RunState => fold(run, history)

export const liveAfter = (...history: readonly RunFact[]): LiveRun => {
  const state = stateAfter(...history)
  if (state.kind !== 'live') throw new Error(`the run is ${state.kind}, not live`)
  return state
}

/** An uncertain step without a task, as a failure without a task leaves it. */
export const unasked = (
  reason = 'the worker is gone',
  more: Partial<FactOf<'step.uncertain'>> = {},
): FactOf<'step.uncertain'> => {
  const { task: _, ...rest } = fact('step.uncertain', { reason, ...more })
  return rest
}
