/**
 * Commands to a task from outside: load, decide, append, repeated if a writer outside this process was faster. Needs no lease and waits
 * for none.
 *
 * Owns that loop, and that the commands of one process to one task take turns. The task's own rules say what a command may do.
 *
 * task-command-1  A command is decided on the state it is written to: if many people decide at once, exactly one finds the task open.
 * task-command-2  A command is never refused because many come at once. Commands that emit no event share one append.
 */
import { advanceTask } from '#engine/core/advance.ts'
import { headOf } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { CallGroups, forEachOwner, pauseAfterConflict } from '#engine/core/turn-queue.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, TaskId } from '#model/kernel/ids.ts'
import type { TaskCommand, TaskFact, TaskState } from '#model/task/fact.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import { taskAppend } from './append.ts'
import { type Emitted, emittedByActions } from './events.ts'
import { loadTask } from './state.ts'

export interface Commanded {
  readonly state: TaskState
  /** Empty if the command was done before, or there was nothing to do. */
  readonly facts: readonly TaskFact[]
  /** The record as the command found it. */
  readonly record: StreamRecord
}

interface TaskCall {
  /** Returns null to leave the task as it is. */
  readonly command: (now: Instant, state: TaskState) => TaskCommand | null
  readonly requireState: (state: TaskState) => Promise<void>
  readonly resolve: (done: Commanded) => void
  readonly reject: (error: unknown) => void
}

/** The result of several calls, decided one after the other. The callers get their answers once it is written. */
interface Round {
  readonly before: TaskState
  readonly record: StreamRecord
  state: TaskState
  readonly facts: TaskFact[]
  readonly emitted: Emitted[]
  readonly answers: (() => void)[]
}

/** Maximum number of calls in one append. */
const MOST_TOGETHER = 256

/** Facts without an event. Any other fact ends a round, because its event needs the state right after the fact. */
const QUIET: ReadonlySet<TaskFact['type']> = new Set(['task.draft_saved', 'task.follow_up_set'])

const callsOf = forEachOwner(
  (engine: EngineContext) => new CallGroups<TaskId, TaskCall>((id, calls) => workOn(engine, id, calls), MOST_TOGETHER),
)

/** Runs a command. A refusal throws, and so may `requireState`. */
export const commandTask = (
  engine: EngineContext,
  id: TaskId,
  command: TaskCall['command'],
  requireState: TaskCall['requireState'] = async () => {},
): Promise<Commanded> =>
  new Promise((resolve, reject) => callsOf(engine).add(id, { command, requireState, resolve, reject }))

const workOn = async (engine: EngineContext, id: TaskId, calls: readonly TaskCall[]): Promise<void> => {
  let done = 0
  let conflicts = 0
  while (done < calls.length) {
    let decided = calls.length - done
    try {
      const round = await begin(engine, id)
      decided = await decide(engine, round, calls.slice(done))
      if (!(await write(engine, id, round))) {
        await pauseAfterConflict(engine, ++conflicts)
        continue
      }
      for (const answer of round.answers) answer()
    } catch (error) {
      // The store failed, so all calls of the round fail. To reject a call that was already answered has no effect.
      for (const { reject } of calls.slice(done, done + decided)) reject(error)
    }
    done += decided
    conflicts = 0
  }
}

const begin = async (engine: EngineContext, id: TaskId): Promise<Round> => {
  const { state: before, record } = await loadTask(engine, id)
  return { before, record, state: before, facts: [], emitted: [], answers: [] }
}

/** Returns how many of the calls are in the round. */
const decide = async (engine: EngineContext, round: Round, calls: readonly TaskCall[]): Promise<number> => {
  for (const [i, call] of calls.entries()) {
    const known = round.facts.length
    await decideOne(engine, round, call)
    if (round.facts.slice(known).some(({ type }) => !QUIET.has(type))) return i + 1
  }
  return calls.length
}

const decideOne = async (engine: EngineContext, round: Round, call: TaskCall): Promise<void> => {
  const { state: before, facts: known } = round
  const record = { ...round.record, version: round.record.version + known.length }
  try {
    await call.requireState(before)
    const asked = call.command(Math.max(engine.clock.now(), headOf(round.record).lastAt), before)
    const { state, facts, refusal } =
      asked === null ? { state: before, facts: [], refusal: null } : advanceTask(before, asked)
    if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
    const place = { id: record.stream as TaskId, handler: record.handler }
    const emitted = await emittedByActions(engine, place, { state, facts })
    round.emitted.push(...emitted.map((one) => ({ ...one, index: one.index + known.length })))
    round.facts.push(...facts)
    round.state = state
    round.answers.push(() => call.resolve({ state, facts, record }))
  } catch (error) {
    round.answers.push(() => call.reject(error))
  }
}

/** Returns false if another writer was faster. */
const write = async (
  engine: EngineContext,
  id: TaskId,
  { before, record, state, facts, emitted }: Round,
): Promise<boolean> => {
  if (facts.length === 0) return true
  const { append, told } = taskAppend(engine, record, { before, state, facts }, emitted)
  const outcome = await commitSpawned(engine, append, told.runs)
  // A worker may hold the task, and a deadline may have changed.
  if (outcome.kind !== 'conflict') engine.worker.signal([id])
  return outcome.kind !== 'conflict'
}

/** Withdraws the task. A task that is already closed stays as it is. */
export const withdrawTask = async (engine: EngineContext, id: TaskId, reason: string): Promise<void> => {
  await commandTask(engine, id, (now) => ({ type: 'withdraw_task', now, reason }))
}

/** Resubmits the task with changed content; a revision that already exists is not written twice. */
export const reviseTask = async (
  engine: EngineContext,
  { task, revision }: { readonly task: TaskId; readonly revision: number },
  { sections, title, instructions, context }: TaskSpec,
): Promise<void> => {
  await commandTask(engine, task, (now, state) =>
    state.kind === 'open' && state.revision > revision
      ? null
      : { type: 'revise_task', now, world: engine.taskWorld, sections, shown: { title, instructions, context } },
  )
}
