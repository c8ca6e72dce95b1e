/**
 * A step whose outcome nobody knows asks a person: did it happen?
 *
 * Owns the task that is born with the doubt, what its decision means for the run, and that a word given elsewhere closes it.
 *
 * doubt-1  There is a task if and only if the step is in doubt: it is written with that fact, and over with the word on it.
 * doubt-2  The run's own stream decides: the first word on a doubt is the one that counts, wherever it was said.
 */
import { TrihandError } from '../model/errors.ts'
import { readRunFact } from '../model/fact-codec.ts'
import type { TaskId } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import { fold } from '../model/machine.ts'
import { run as runMachine } from '../model/run.ts'
import type { RunCommand, Verdict } from '../model/run-fact.ts'
import { builtInAction } from '../model/task-action.ts'
import type { TaskState } from '../model/task-fact.ts'
import type { Section, TaskAction, TaskSpec } from '../model/task-spec.ts'
import { taskAnswer } from '../model/task-view.ts'
import { taskOf } from './ask.ts'
import type { House } from './house.ts'
import { storeValue } from './payloads.ts'
import { type Luggage, NO_LUGGAGE } from './request.ts'
import type { Resident } from './resident.ts'
import { loadTask } from './task-state.ts'

const OPERATORS = 'operators'
const RESULT = 'result'

const VERDICTS: ReadonlyMap<string, Verdict> = new Map([
  ['it_happened', 'happened'],
  ['run_again', 'run_again'],
  ['abort', 'abort'],
])

const ACTIONS: readonly TaskAction[] = [
  { ...builtInAction('respond'), name: 'it_happened', label: 'It happened' },
  { ...builtInAction('respond'), name: 'run_again', label: 'Run again' },
  { ...builtInAction('respond'), name: 'abort', label: 'Abort' },
]

export interface Doubt {
  readonly step: string
  readonly attempt: number
  readonly reason: string
  readonly effectKey: string
}

const evidence = (content: Json): Section => ({
  ...{ id: 'evidence', type: 'preview', title: 'Evidence', items: [], editable: false, schema: null },
  content,
})

const specOf = (handler: string, { step, attempt, reason, effectKey }: Doubt): TaskSpec => ({
  ...{ type: 'decision', origin: 'uncertain', name: handler, title: `Did it happen? ${step} of ${handler}` },
  instructions: `Nobody knows whether the effect of this step took place. Look where it would show, then say so: it happened (its result goes into the field ${RESULT}), run it again, or abort the step.`,
  context: null,
  remarks: null,
  priority: 0,
  requester: null,
  sections: [evidence({ handler, step, attempt, reason, idempotency_key: effectKey })],
  actions: ACTIONS,
  levels: [{ to: { users: [], groups: [OPERATORS] }, deadline: null }],
  reminders: null,
  autoAction: null,
  quorum: { approve: 1, reject: 1 },
  excluded: [],
})

/** doubt-1: carried by the fact that puts the step in doubt, or left behind. */
export const doubtTask = (resident: Resident, doubt: Doubt): { readonly task: TaskId; readonly luggage: Luggage } => {
  const { id, write, told } = taskOf(resident, doubt.step, specOf(resident.record.handler, doubt))
  return { task: id, luggage: { ...NO_LUGGAGE, ...told, tasks: [write] } }
}

/** What people have said on steps in doubt. */
export const offerDoubts = async (resident: Resident): Promise<void> => {
  for (const [step, open] of resident.live?.open.entries() ?? []) {
    if (open.kind !== 'uncertain' || open.task === null) continue
    const command = await wordOf(resident.house, step, open.task)
    if (command !== null) resident.ask({ command, luggage: null, done: null })
  }
}

const wordOf = async (house: House, step: string, task: TaskId): Promise<RunCommand | null> => {
  const answer = taskAnswer((await loadTask(house, task)).state)
  const verdict = VERDICTS.get(answer?.decision ?? '')
  if (answer === null || verdict === undefined) return null
  const { [RESULT]: given = null } = answer.fields as { readonly [field: string]: Json }
  const result = verdict === 'happened' ? (await storeValue(house, given)).payload : null
  return { type: 'resolve_step', now: house.clock.now(), step, verdict, by: answer.decidedBy ?? '', result, task }
}

/** doubt-2: refuses to decide a doubt on which the word was given elsewhere. */
export const demandDoubt = async (house: Pick<House, 'ledger'>, id: TaskId, state: TaskState): Promise<void> => {
  if (state.kind !== 'open' || state.spec.origin !== 'uncertain') return
  const [record] = await house.ledger.load([state.run])
  const run = record == null ? null : fold(runMachine, record.facts.map(readRunFact))
  if (run?.kind !== 'live' || !run.tasks.includes(id))
    throw new TrihandError('TASK_CLOSED', `the word on ${state.step} was given elsewhere`)
}
