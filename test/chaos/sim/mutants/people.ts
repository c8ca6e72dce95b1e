/** Seeded bugs around people: questions that are lost, left open or answered twice, and answers that never arrive. */
import { type SessionCall, SessionWrites } from '#engine/services/session-writes.ts'
import type { StreamId } from '#model/kernel/ids.ts'
import { planEnd } from '#model/plan/end.ts'
import type { TaskCommand, TaskState } from '#model/task/fact.ts'
import { task } from '#model/task/task.ts'
import type { Append, Outcome, StreamWrite } from '#ports/ledger.ts'
import { type Mutant, plantMethod, withAppends } from './mutant.ts'

const isTask = ({ stream }: StreamWrite): boolean => stream.startsWith('tsk_')
const isChange = ({ writes }: Append): boolean => writes.some((write) => isTask(write) && write.create === null)

const silent: Mutant = {
  name: 'a decision does not wake the run that asked',
  atEngine: (line) => withAppends(line, (append) => (isChange(append) ? { ...append, signals: [] } : append)),
}

const unborn: Mutant = {
  name: 'a step asks without the task that it asks with',
  atEngine: (line) =>
    withAppends(line, (append) => ({
      ...append,
      writes: append.writes.filter((write) => !isTask(write) || write.create === null),
    })),
}

const abandoned: Mutant = {
  name: 'a run that ends leaves its questions open',
  seenAt: 33,
  atEngine: (line) =>
    withAppends(line, (append) =>
      isChange(append) ? append : { ...append, signals: append.signals.filter((id) => !id.startsWith('tsk_')) },
    ),
}

type Decide = (state: TaskState, command: TaskCommand) => unknown

/** The first decision is not the last. */
const secondWord: Mutant = {
  name: 'a closed task takes another decision',
  plant: () =>
    plantMethod<Decide>(
      task,
      'decide',
      (decide) => (state, command) =>
        decide(state.kind === 'closed' && command.type === 'decide_task' ? state.task : state, command),
    ),
}

const deafPlan: Mutant = {
  name: 'a step of a plan begins although people said no to what it requires',
  plant: () => plantMethod<typeof planEnd.fateOf>(planEnd, 'fateOf', () => () => null),
}

const lapseIsYes: Mutant = {
  name: 'a question of a plan that expires counts as a yes',
  plant: () =>
    plantMethod<typeof planEnd.isYes>(
      planEnd,
      'isYes',
      (isYes) => (answered) => isYes(answered) || answered.status === 'expired',
    ),
}

type WrittenAgain = (id: StreamId, group: readonly SessionCall[], outcome: Outcome) => readonly SessionCall[]

const droppedResults: Mutant = {
  name: 'runs are let go with their results when their session has moved (14.2)',
  seenAt: 28,
  plant: () =>
    plantMethod<WrittenAgain>(SessionWrites.prototype, 'writtenAgain', () => (_, group) => {
      const outcome = { kind: 'conflict', reason: 'taken', sequence: 0, dataHash: '', runs: [] } as const
      for (const call of group) call.settle(outcome)
      return []
    }),
}

export const PEOPLE_MUTANTS: readonly Mutant[] = [
  droppedResults,
  silent,
  unborn,
  abandoned,
  secondWord,
  deafPlan,
  lapseIsYes,
]
