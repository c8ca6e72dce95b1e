/**
 * Short notations for specs, people and commands of a task.
 *
 * Owns a world of real hashes, real schemas and real patches. Every instant is given; a task is opened at 0 by default.
 */
import { createHash } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createPatch } from 'rfc6902'
import { type Instant, runId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import { type BuiltInAction, builtInAction } from '#model/task/action.ts'
import type { OpenTask, Submit, TaskCommand, TaskFact, TaskState, TaskWorld } from '#model/task/fact.ts'
import type { Identity, Section, TaskAction, TaskSpec } from '#model/task/spec.ts'
import { task } from '#model/task/task.ts'

export const HOUR = 3_600_000
export const RUN = runId('0'.repeat(32))
const STEP = 'review'

const ajv = new Ajv2020({ strict: false })

export const world: TaskWorld = {
  digest: (text) => createHash('sha256').update(text).digest('base64url').slice(0, 16),
  misfit: (schema, value) => (ajv.validate(schema as object, value) ? null : ajv.errorsText()),
  diff: (before, after) => createPatch(before, after) as unknown as Json,
}

export const person = (id: string, ...groups: readonly string[]): Identity => ({ id, kind: 'user', groups })
export const ana = person('ana', 'editors')
export const bob = person('bob', 'editors')
export const cfo = person('cfo', 'leads')
export const eve = person('eve')

export const action = (name: BuiltInAction, over: Partial<TaskAction> = {}): TaskAction => ({
  ...builtInAction(name),
  ...over,
})

/** An action that the author declared. */
export const custom = (name: string, over: Partial<TaskAction> = {}): TaskAction => ({
  ...builtInAction('respond'),
  name,
  label: name,
  ...over,
})

export const ALL_ACTIONS = (
  ['approve', 'reject', 'edit', 'request_edit', 'reassign', 'escalate', 'respond'] as const
).map((name) => action(name))

/** Mails to review, each with a subject. */
export const mails = (...ids: readonly string[]): Section => ({
  id: 'mails',
  type: 'review_items',
  title: 'Mails',
  content: null,
  items: ids.map((id) => ({ id, title: id, content: { subject: `about ${id}` } })),
  editable: true,
  schema: { type: 'object', required: ['subject'], properties: { subject: { type: 'string', minLength: 1 } } },
})

export const document = (id: string, content: Json): Section => ({
  id,
  type: 'editable',
  title: id,
  content,
  items: [],
  editable: true,
  schema: null,
})

export const to = (...names: readonly string[]): { readonly users: string[]; readonly groups: string[] } => ({
  users: names.filter((name) => !name.startsWith('group:')),
  groups: names.flatMap((name) => (name.startsWith('group:') ? name.slice(6) : [])),
})

export const aSpec = (over: Partial<TaskSpec> = {}): TaskSpec => ({
  type: 'approval',
  origin: 'human',
  name: 'review-mailing',
  title: 'Review the mailing',
  instructions: 'Read each mail.',
  context: {},
  remarks: null,
  priority: 0,
  requester: null,
  sections: [mails('a', 'b', 'c')],
  actions: ALL_ACTIONS,
  levels: [{ to: to('group:editors'), deadline: null }],
  reminders: null,
  autoAction: null,
  quorum: { approve: 1, reject: 1 },
  excluded: [],
  ...over,
})

export const open = (spec: TaskSpec = aSpec(), now: Instant = 0): TaskCommand => ({
  type: 'open_task',
  now,
  world,
  run: RUN,
  step: STEP,
  spec,
})

/** The state after these commands; a refused one changes nothing. */
export const taskAfter = (...commands: readonly TaskCommand[]): TaskState =>
  commands.reduce((state, command) => {
    const decision = task.decide(state, command)
    return decision.kind === 'facts' ? fold(task, decision.facts, state) : state
  }, task.initial)

/** The facts of these commands, each of which must be accepted. */
export const history = (...commands: readonly TaskCommand[]): readonly TaskFact[] => {
  const recorded: TaskFact[] = []
  for (const command of commands) {
    const decision = task.decide(fold(task, recorded), command)
    if (decision.kind === 'refused') throw new Error(`${command.type} was refused: ${decision.detail}`)
    recorded.push(...decision.facts)
  }
  return recorded
}

export const isOpen = (state: TaskState): OpenTask => {
  if (state.kind !== 'open') throw new Error(`the task is ${state.kind}`)
  return state
}

/** The hash of a task that was opened like this. */
export const hashOf = (spec: TaskSpec = aSpec()): string => isOpen(taskAfter(open(spec))).hash

const USUAL_HASH = hashOf()

export const submit = (name: string, over: Partial<Submit> = {}): Submit => ({
  type: 'decide_task',
  now: 1,
  by: ana,
  world,
  action: name,
  reason: 'because',
  fields: {},
  items: {},
  shownHash: USUAL_HASH,
  draftsSeen: null,
  to: [],
  request: null,
  ...over,
})

export const passTime = (now: Instant): TaskCommand => ({ type: 'pass_time', now })
export const view = (by: Identity, now: Instant = 1): TaskCommand => ({ type: 'view_task', now, by })
export const claim = (by: Identity, now: Instant = 1): TaskCommand => ({ type: 'claim_task', now, by })
export const unclaim = (by: Identity, now: Instant = 1): TaskCommand => ({ type: 'unclaim_task', now, by })
export const withdraw = (now: Instant = 1): TaskCommand => ({ type: 'withdraw_task', now, reason: 'cancelled' })
export const revise = (now: Instant, ...sections: readonly Section[]): TaskCommand => ({
  type: 'revise_task',
  now,
  world,
  sections,
})
