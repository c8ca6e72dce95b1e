/**
 * Arbitrary facts and commands of a run, and walks: what the state machine makes of a list of commands over time.
 *
 * Owns a small world (two steps, two children, few types and instants), so that random commands interact. The two tables are complete by
 * type: a new fact or command does not compile until it can be drawn here.
 */
import fc from 'fast-check'
import type { Cause } from '#model/event/event.ts'
import type { Received, WaitSpec } from '#model/event/wait.ts'
import { ERRORS, type ErrorCode, type Failure } from '#model/kernel/errors.ts'
import { workerId } from '#model/kernel/ids.ts'
import type { Decision } from '#model/kernel/machine.ts'
import { inline, type Payload } from '#model/kernel/payload.ts'
import { attemptsOf } from '#model/run/attempt.ts'
import type { ChildEnd, RunCommand, RunFact, RunInput, RunStart, RunState, Verdict } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'
import type { Effect, Performer, SettledStep } from '#model/run/step.ts'
import { CHILD, type CommandOf, type FactOf, OTHER_CHILD, RETRY, TASK } from './run-story.ts'

export const STEPS = ['a', 'b']
const EVENT_TYPES = ['x', 'y', 'z']
const seldom = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 3 }, { arbitrary: value, weight: 1 })
const instant = fc.integer({ min: 0, max: 60 })
const attempt = fc.integer({ min: 1, max: RETRY.maxAttempts + 1 })
const text = fc.string({ maxLength: 4 })
const step = fc.constantFrom(...STEPS)
const version = fc.constantFrom('v1', 'v2')
const by = fc.constantFrom('ana', 'ben')
const effectKey = fc.constantFrom('k1', 'k2')
const child = fc.constantFrom(CHILD, OTHER_CHILD)
const task = fc.constant(TASK)
const performer: fc.Arbitrary<Performer> = fc.record({
  id: fc.constantFrom('p1', 'p2'),
  worker: fc.constant(workerId('1'.repeat(32))),
  epoch: fc.integer({ min: 1, max: 3 }),
  askAt: instant,
})
const events = fc.array(text, { maxLength: 2 })
const verdict = fc.constantFrom<Verdict>('happened', 'run_again', 'abort')
const status = fc.constantFrom('success' as const, 'partial' as const)
const received: fc.Arbitrary<Received> = fc.record({
  type: fc.constantFrom(...EVENT_TYPES),
  sequence: fc.integer({ min: 0, max: 8 }),
})
const failure: fc.Arbitrary<Failure> = fc.record({
  code: fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[])),
  message: text,
})
const payload = fc.constantFrom<Payload>(inline(null), inline({ sent: true }), { blob: 'sha256', bytes: 70_000 })
const cause: fc.Arbitrary<Cause> = fc.record({
  correlationId: text,
  causationId: fc.option(text),
  traceparent: fc.option(text),
  hops: fc.nat(20),
  chain: fc.array(text, { maxLength: 3 }),
})
const input: fc.Arbitrary<RunInput> = fc.oneof(
  fc.constant({ kind: 'event' as const }),
  payload.map((given) => ({ kind: 'given' as const, payload: given })),
)
const start: fc.Arbitrary<RunStart> = fc.record({
  handler: text,
  input,
  cause: fc.option(cause),
  parentStep: fc.option(step),
  depth: fc.nat(16),
  deadlineAt: seldom(instant),
  startBy: seldom(instant),
})
const wait: fc.Arbitrary<WaitSpec> = fc.record({
  mode: fc.constantFrom('any' as const, 'all' as const),
  types: fc.uniqueArray(fc.constantFrom(...EVENT_TYPES), { minLength: 1, maxLength: 3 }),
  match: fc.option(fc.record({ path: text, value: text })),
  condition: fc.option(text, { nil: null }),
  timeoutAt: fc.option(instant),
  base: fc.integer({ min: 0, max: 3 }),
})
const end: fc.Arbitrary<ChildEnd> = fc.oneof(
  payload.map((result) => ({ kind: 'done' as const, result })),
  failure.map((error) => ({ kind: 'failed' as const, error })),
)

const settled: fc.Arbitrary<SettledStep> = fc.oneof(
  payload.map((result) => ({ kind: 'done' as const, result })),
  failure.map((error) => ({ kind: 'failed' as const, error })),
)
const reused = { of: child, seq: fc.nat(9), settled }

const at = instant
const onStep = { at, step }
const factArbitraries: { readonly [Type in RunFact['type']]: fc.Arbitrary<FactOf<Type>> } = {
  'run.started': fc.record({ at, started: start }).map(({ at, started }) => ({ type: 'run.started', at, ...started })),
  'run.retry_scheduled': fc.record({
    type: fc.constant('run.retry_scheduled'),
    at,
    attempt,
    error: failure,
    wakeAt: instant,
  }),
  'run.retry_due': fc.record({ type: fc.constant('run.retry_due'), at }),
  'run.paused': fc.record({ type: fc.constant('run.paused'), at, by, reason: fc.option(text) }),
  'run.resumed': fc.record({ type: fc.constant('run.resumed'), at, by }),
  'run.entered': fc.record({ type: fc.constant('run.entered'), at }),
  'run.handed_over': fc.record({ type: fc.constant('run.handed_over'), at, from: version, to: version }),
  'run.cancel_requested': fc.record({ type: fc.constant('run.cancel_requested'), at, by, error: failure }),
  'run.completed': fc.record(
    { type: fc.constant('run.completed'), at, status, output: payload, events },
    { requiredKeys: ['type', 'at', 'status', 'output'] },
  ),
  'run.failed': fc.record({ type: fc.constant('run.failed'), at, error: failure }),
  'run.cancelled': fc.record({ type: fc.constant('run.cancelled'), at, error: failure }),
  'run.expired': fc.record({ type: fc.constant('run.expired'), at, error: failure }),
  'run.quarantined': fc.record({ type: fc.constant('run.quarantined'), at, error: failure }),
  'run.retried': fc.record({ type: fc.constant('run.retried'), at, by }),
  'step.intended': fc.record({ ...onStep, type: fc.constant('step.intended'), attempt, effectKey }),
  'step.completed': fc.record(
    { ...onStep, type: fc.constant('step.completed'), attempt, result: payload, events },
    { requiredKeys: ['at', 'step', 'type', 'attempt', 'result'] },
  ),
  'step.retry_scheduled': fc.record({
    ...onStep,
    type: fc.constant('step.retry_scheduled'),
    attempt,
    error: failure,
    wakeAt: instant,
  }),
  'step.retry_due': fc.record({ ...onStep, type: fc.constant('step.retry_due') }),
  'step.failed': fc.record({ ...onStep, type: fc.constant('step.failed'), attempt, error: failure }),
  'step.uncertain': fc.record({ ...onStep, type: fc.constant('step.uncertain'), attempt, reason: text, task }),
  'step.resolved': fc.record({
    ...onStep,
    type: fc.constant('step.resolved'),
    verdict,
    by,
    result: fc.option(payload),
  }),
  'step.late_result': fc.record({
    ...onStep,
    type: fc.constant('step.late_result'),
    attempt,
    result: fc.option(payload),
    error: fc.option(failure),
  }),
  'step.reused': fc.record({ ...onStep, type: fc.constant('step.reused'), ...reused }),
  'timer.set': fc.record({ ...onStep, type: fc.constant('timer.set'), wakeAt: instant }),
  'timer.fired': fc.record({ ...onStep, type: fc.constant('timer.fired') }),
  'wait.opened': fc.record({ ...onStep, type: fc.constant('wait.opened'), wait }),
  'wait.received': fc.record({ ...onStep, type: fc.constant('wait.received'), event: received }),
  'wait.timed_out': fc.record({ ...onStep, type: fc.constant('wait.timed_out') }),
  'child.started': fc.record({ ...onStep, type: fc.constant('child.started'), child, handler: text }),
  'child.ended': fc.record({ ...onStep, type: fc.constant('child.ended'), child, end }),
}

const now = fc.constant(0)
const toStep = { now, step }
const retry = fc.constant(RETRY)
const roll = fc.constantFrom(0, 0.004, 0.01, 0.99)
const commandArbitraries: { readonly [Type in RunCommand['type']]: fc.Arbitrary<CommandOf<Type>> } = {
  start_run: fc.record({ type: fc.constant('start_run'), now, start }),
  finish_run: fc.record({ type: fc.constant('finish_run'), now, status, output: payload, events }),
  fail_run: fc.record({ type: fc.constant('fail_run'), now, error: failure, retryable: fc.boolean(), retry, roll }),
  cancel_run: fc.record({ type: fc.constant('cancel_run'), now, by, error: failure, idle: fc.boolean() }),
  confirm_cancel: fc.record({ type: fc.constant('confirm_cancel'), now }),
  pause_run: fc.record({ type: fc.constant('pause_run'), now, by, reason: fc.option(text) }),
  resume_run: fc.record({ type: fc.constant('resume_run'), now, by }),
  enter_run: fc.record({ type: fc.constant('enter_run'), now }),
  hand_over: fc.record({ type: fc.constant('hand_over'), now, from: version, to: version }),
  retry_run: fc.record({ type: fc.constant('retry_run'), now, by }),
  quarantine_run: fc.record({ type: fc.constant('quarantine_run'), now, error: failure }),
  pass_time: fc.record({ type: fc.constant('pass_time'), now }),
  intend_step: fc.record({ ...toStep, type: fc.constant('intend_step'), effectKey, performer }),
  complete_step: fc.record({ ...toStep, type: fc.constant('complete_step'), attempt, result: payload, events }),
  fail_step: fc.record({
    ...toStep,
    type: fc.constant('fail_step'),
    attempt,
    error: failure,
    retryable: fc.boolean(),
    definite: fc.boolean(),
    task,
    effect: fc.constantFrom<Effect>('idempotent', 'once', 'transactional'),
    retry,
    roll,
  }),
  mark_uncertain: fc.record({
    ...toStep,
    type: fc.constant('mark_uncertain'),
    reason: text,
    task,
    isGone: fc.boolean(),
  }),
  resolve_step: fc.record({
    ...toStep,
    type: fc.constant('resolve_step'),
    verdict,
    by,
    result: fc.option(payload),
    task,
  }),
  report_late: fc.record({
    ...toStep,
    type: fc.constant('report_late'),
    attempt,
    result: fc.option(payload),
    error: fc.option(failure),
    performer: fc.constantFrom('p1', 'p2'),
  }),
  reuse_step: fc.record({ ...toStep, type: fc.constant('reuse_step'), ...reused }),
  set_timer: fc.record({ ...toStep, type: fc.constant('set_timer'), wakeAt: instant }),
  open_wait: fc.record({ ...toStep, type: fc.constant('open_wait'), wait }),
  receive_event: fc.record({ ...toStep, type: fc.constant('receive_event'), event: received }),
  start_child: fc.record({ ...toStep, type: fc.constant('start_child'), child, handler: text }),
  end_child: fc.record({ ...toStep, type: fc.constant('end_child'), child, end }),
}

export const anyFact: fc.Arbitrary<RunFact> = fc.oneof(...Object.values(factArbitraries))
export const anyCommand: fc.Arbitrary<RunCommand> = fc.oneof(...Object.values(commandArbitraries))
export const anyHistory: fc.Arbitrary<readonly RunFact[]> = fc
  .tuple(factArbitraries['run.started'], fc.array(anyFact, { maxLength: 25, size: 'max' }), fc.boolean())
  .map(([first, rest, isStarted]) => (isStarted ? [first, ...rest] : rest))

/** One decision of the machine, and its facts. */
export interface Turn {
  readonly before: RunState
  readonly command: RunCommand
  readonly decision: Decision<RunFact>
  readonly facts: readonly RunFact[]
  readonly after: RunState
}

/** Ends are drawn rarely; time, answers and retries often, so that a walk continues for a while. */
const WEIGHTS: Partial<Record<RunCommand['type'], number>> = {
  finish_run: 1,
  quarantine_run: 1,
  cancel_run: 2,
  fail_run: 2,
  pause_run: 2,
  resume_run: 8,
  enter_run: 4,
  retry_run: 8,
  resolve_step: 12,
  receive_event: 12,
  fail_step: 12,
  start_child: 8,
  end_child: 16,
  pass_time: 12,
}
const likelyCommand: fc.Arbitrary<RunCommand> = fc.oneof(
  ...(Object.keys(commandArbitraries) as RunCommand['type'][]).map((type) => ({
    arbitrary: commandArbitraries[type] as fc.Arbitrary<RunCommand>,
    weight: WEIGHTS[type] ?? 4,
  })),
)
const move: fc.Arbitrary<Move> = fc.record({
  command: likelyCommand,
  elapsed: fc.integer({ min: 0, max: 5 }),
  isTimely: fc.boolean(),
})

interface Move {
  readonly command: RunCommand
  readonly elapsed: number
  /** Uses the attempt that is due, like an engine would, instead of any. */
  readonly isTimely: boolean
}

/** A start and then anything, each command a little later than the one before it, or at the same instant. */
export const anyWalk: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(commandArbitraries.start_run, fc.array(move, { maxLength: 40, size: 'max' }))
  .map(([first, rest]) => walk([{ command: first, elapsed: 0, isTimely: false }, ...rest]))

const walk = (moves: readonly Move[]): readonly Turn[] => {
  const turns: Turn[] = []
  let state = run.initial
  let now = 0
  for (const { command, elapsed, isTimely } of moves) {
    now += elapsed
    const turn = take(state, { ...(isTimely ? timely(state, command) : command), now })
    turns.push(turn)
    state = turn.after
  }
  return turns
}

const timely = (state: RunState, command: RunCommand): RunCommand =>
  state.kind === 'live' && 'attempt' in command ? { ...command, attempt: attemptsOf(state, command.step) + 1 } : command

export const take = (before: RunState, command: RunCommand): Turn => {
  const decision = run.decide(before, command)
  const facts = decision.kind === 'facts' ? decision.facts : []
  return { before, command, decision, facts, after: facts.reduce(run.evolve, before) }
}
