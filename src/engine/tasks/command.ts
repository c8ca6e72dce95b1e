/**
 * Commands to a task from outside: load, decide, append, and again if a writer outside this process was faster. Needs no lease and waits
 * for none.
 *
 * Owns that loop, and that the commands of one process to one task take turns. What a command may do is the task's own rule.
 *
 * task-command-1  A command is decided on the state it is written to: of many deciders at once exactly one finds the task open.
 * task-command-2  However many commands come at once, none is refused for it. Those that tell nothing outside share one append.
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
  /** None: it was done before, or there was nothing to do. */
  readonly facts: readonly TaskFact[]
  /** As the command found it. */
  readonly record: StreamRecord
}

interface TaskCall {
  /** Null: leave the task as it is. */
  readonly command: (now: Instant, state: TaskState) => TaskCommand | null
  readonly requireState: (state: TaskState) => Promise<void>
  readonly resolve: (done: Commanded) => void
  readonly reject: (error: unknown) => void
}

/** What some calls come to, one decided after the other; given to the callers once it is written. */
interface Round {
  readonly before: TaskState
  readonly record: StreamRecord
  state: TaskState
  readonly facts: TaskFact[]
  readonly emitted: Emitted[]
  readonly answers: (() => void)[]
}

/** In one append. Bounds its size. */
const MOST_TOGETHER = 256

/** Facts that tell nothing outside. An event is told with the state right after its fact: such a fact ends a round. */
const QUIET: ReadonlySet<TaskFact['type']> = new Set(['task.draft_saved', 'task.follow_up_set'])

const callsOf = forEachOwner(
  (engine: EngineContext) => new CallGroups<TaskId, TaskCall>((id, calls) => workOn(engine, id, calls), MOST_TOGETHER),
)

/** A refusal is thrown, by `requireState` too. */
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
      // The store, and so all that would have been written with it. Who is answered already hears nothing of it.
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

/** Answers how many of the calls are in the round. */
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

/** False: another writer was faster. */
const write = async (
  engine: EngineContext,
  id: TaskId,
  { before, record, state, facts, emitted }: Round,
): Promise<boolean> => {
  if (facts.length === 0) return true
  const { append, told } = taskAppend(engine, record, { before, state, facts }, emitted)
  const outcome = await commitSpawned(engine, append, told.runs)
  // A worker may hold it, and a deadline may have moved.
  if (outcome.kind !== 'conflict') engine.worker.signal([id])
  return outcome.kind !== 'conflict'
}

/** One that is over stays as it is. */
export const withdrawTask = async (engine: EngineContext, id: TaskId, reason: string): Promise<void> => {
  await commandTask(engine, id, (now) => ({ type: 'withdraw_task', now, reason }))
}

/** Brings the content again, changed; a revision that stands already is not brought twice. */
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
