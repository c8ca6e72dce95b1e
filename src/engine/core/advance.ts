/**
 * The only caller of decide: a state and a command in, the facts and the next state out.
 *
 * Owns nothing but the order decide, then evolve. Never reads or writes anything.
 */
import { gate } from '#model/flow/gate.ts'
import type { GateCommand, GateFact, GateState } from '#model/flow/gate-fact.ts'
import { queue } from '#model/flow/queue.ts'
import type { QueueCommand, QueueFact, QueueState } from '#model/flow/queue-fact.ts'
import type { Machine, Refusal } from '#model/kernel/machine.ts'
import { type PlanCommand, type PlanFact, type PlanState, planDraft } from '#model/plan/draft.ts'
import type { RunCommand, RunFact, RunState } from '#model/run/fact.ts'
import { run } from '#model/run/run.ts'
import type { ScheduleCommand, ScheduleFact, ScheduleState } from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import { type SessionCommand, type SessionFact, type SessionState, session } from '#model/session/session.ts'
import type { TaskCommand, TaskFact, TaskState } from '#model/task/fact.ts'
import { task } from '#model/task/task.ts'
import { type CircuitCommand, type CircuitFact, type CircuitState, circuit } from '#model/worker/circuit.ts'
import {
  type WorkerControlCommand,
  type WorkerControlFact,
  type WorkerControlState,
  workerControl,
} from '#model/worker/worker-control.ts'

export interface Advance<State, Fact> {
  readonly state: State
  readonly facts: readonly Fact[]
  readonly refusal: Refusal | null
}

/** Applies commands one after another, each on the state that the one before has left. A refused command changes nothing. */
export class CommandSequence<State, Command, Fact> {
  readonly facts: Fact[] = []
  state: State
  private readonly advance: (state: State, command: Command) => Advance<State, Fact>

  constructor(state: State, advance: (state: State, command: Command) => Advance<State, Fact>) {
    this.state = state
    this.advance = advance
  }

  ask(command: Command): void {
    const { state, facts } = this.advance(this.state, command)
    this.state = state
    for (const fact of facts) this.facts.push(fact)
  }
}

const advance = <State, Command, Fact>(
  machine: Machine<State, Command, Fact>,
  state: State,
  command: Command,
): Advance<State, Fact> => {
  const decision = machine.decide(state, command)
  if (decision.kind === 'refused') return { state, facts: [], refusal: decision }
  let next = state
  for (const fact of decision.facts) next = machine.evolve(next, fact)
  return { state: next, facts: decision.facts, refusal: null }
}

export const advanceRun = (state: RunState, command: RunCommand): Advance<RunState, RunFact> =>
  advance(run, state, command)

export const advanceSession = (state: SessionState, command: SessionCommand): Advance<SessionState, SessionFact> =>
  advance(session, state, command)

export const advanceGate = (state: GateState, command: GateCommand): Advance<GateState, GateFact> =>
  advance(gate, state, command)

export const advanceSchedule = (state: ScheduleState, command: ScheduleCommand): Advance<ScheduleState, ScheduleFact> =>
  advance(schedule, state, command)

export const advanceQueue = (state: QueueState, command: QueueCommand): Advance<QueueState, QueueFact> =>
  advance(queue, state, command)

export const advanceCircuit = (state: CircuitState, command: CircuitCommand): Advance<CircuitState, CircuitFact> =>
  advance(circuit, state, command)

export const advanceWorkerControl = (
  state: WorkerControlState,
  command: WorkerControlCommand,
): Advance<WorkerControlState, WorkerControlFact> => advance(workerControl, state, command)

export const advanceTask = (state: TaskState, command: TaskCommand): Advance<TaskState, TaskFact> =>
  advance(task, state, command)

export const advancePlan = (state: PlanState, command: PlanCommand): Advance<PlanState, PlanFact> =>
  advance(planDraft, state, command)
