/**
 * Commands to a task from outside: load, decide, append, and again if somebody else was faster. Needs no lease and waits for none.
 *
 * Owns that loop. What a command may do is the task's own rule.
 *
 * task-command-1  A command is decided on the state it is written to: of many deciders at once exactly one finds the task open.
 */
import { TrihandError } from '../model/errors.ts'
import type { Instant, TaskId } from '../model/ids.ts'
import type { TaskCommand, TaskFact, TaskState } from '../model/task-fact.ts'
import type { TaskSpec } from '../model/task-spec.ts'
import type { StreamRecord } from '../ports/ledger.ts'
import { advanceTask } from './advance.ts'
import { commitBirths } from './births.ts'
import { headOf } from './chain.ts'
import type { House } from './house.ts'
import { taskAppend } from './task-append.ts'
import { emittedByActions } from './task-events.ts'
import { loadTask } from './task-state.ts'

/** Every conflict means that somebody got on; a crowd of fifty at one task still comes to its end. */
const MAX_CONFLICTS = 100

export interface Commanded {
  readonly state: TaskState
  /** None: it was done before, or there was nothing to do. */
  readonly facts: readonly TaskFact[]
  readonly record: StreamRecord
}

/** A refusal is thrown, by `demand` too. Null from `command`: leave it as it is. */
export const commandTask = async (
  house: House,
  id: TaskId,
  command: (now: Instant, state: TaskState) => TaskCommand | null,
  demand: (state: TaskState) => Promise<void> = async () => {},
): Promise<Commanded> => {
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const { state: before, record } = await loadTask(house, id)
    await demand(before)
    const asked = command(Math.max(house.clock.now(), headOf(record).lastAt), before)
    if (asked === null) return { state: before, facts: [], record }
    const { state, facts, refusal } = advanceTask(before, asked)
    if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
    if (facts.length === 0) return { state, facts, record }
    const change = { before, state, facts }
    const { append, told } = taskAppend(
      house,
      record,
      change,
      await emittedByActions(house, { id, handler: record.handler }, change),
    )
    const outcome = await commitBirths(house, append, told.runs)
    if (outcome.kind === 'conflict') continue
    // Somebody may hold it, and a deadline may have moved.
    house.worker.signal([id])
    return { state, facts, record }
  }
  throw new TrihandError('LEDGER_CONFLICT', `${MAX_CONFLICTS} others wrote to ${id} first`)
}

/** One that is over stays as it is. */
export const withdrawTask = async (house: House, id: TaskId, reason: string): Promise<void> => {
  await commandTask(house, id, (now) => ({ type: 'withdraw_task', now, reason }))
}

/** Brings the content again, changed; a revision that stands already is not brought twice. */
export const reviseTask = async (
  house: House,
  { task, revision }: { readonly task: TaskId; readonly revision: number },
  { sections, title, instructions, context }: TaskSpec,
): Promise<void> => {
  await commandTask(house, task, (now, state) =>
    state.kind === 'open' && state.revision > revision
      ? null
      : { type: 'revise_task', now, world: house.taskWorld, sections, shown: { title, instructions, context } },
  )
}
