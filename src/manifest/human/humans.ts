/**
 * Brings humans from what an author writes to the normal form: what people are asked, who they are, what they may do, by when.
 *
 * Owns their spelling, their defaults and every refusal at definition time. What a decision does is model/task/task.ts.
 */
import { checkName, invalid } from '#manifest/define/invalid.ts'
import { oneOf, wholeNumber, withPath } from '#manifest/expressions/ranges.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import type { CancelSource } from '#model/event/cancel-on.ts'
import type { Trigger } from '#model/event/watch.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type {
  AssignDefinition,
  Human,
  HumanDefinition,
  SectionDefinition,
  SeparationDefinition,
} from '#model/task/human.ts'
import { votersNeeded } from '#model/task/quorum.ts'
import type { AssignSource, SectionSource, TaskOptions } from '#model/task/source.ts'
import type { Quorum, SectionType, TaskAction, TaskType } from '#model/task/spec.ts'
import type { PlacementSource } from '#model/worker/source.ts'
import { defaultActions, defineActions } from './actions.ts'
import { type Compile, compileMaker, fromTemplates, fromValues } from './task-maker.ts'
import { addresseesOf, defineDeadline, defineLevels, defineReminders } from './time.ts'

/** What people are asked when it is started: `{ trigger: 'refund.asked', taskType: 'approval', assign: 'group:sales', deadline: '48h' }`. */
export interface HumanOptions extends TaskOptions, Omit<FlowSource, 'priority'>, PlacementSource {
  /** What starts it: an event type, an event with a filter, or something to watch. Default: nothing but a call by name. */
  readonly trigger?: Trigger
  /** Several triggers, each as in `trigger`. Default: none. */
  readonly triggers?: readonly Trigger[]
  /** The schema of its input, any with `~standard`: input that does not fit is refused. Default: any JSON. */
  readonly input?: unknown
  /** How often it may stand in the chain of causes that led to it, besides the first time. Default: 0, so that it never starts itself. */
  readonly allowReentry?: number
  /** True: only its triggers start it, never a call by name. Default: false. */
  readonly internal?: boolean
  /** Events that cancel its runs: `[{ event: 'order.cancelled', match: 'payload.id' }]`. Default: none. */
  readonly cancelOn?: readonly CancelSource[]
}

/** A human with its name, as `human` gives it to a system. */
export interface HumanSource {
  /** Its name: a letter, then at most 63 of `a-z 0-9 _ -`. */
  readonly name: string
  /** What it declares. */
  readonly options: HumanOptions
}

const KIND = Symbol.for('trihand.kind')
const TYPES: readonly TaskType[] = ['approval', 'input', 'review', 'decision']
const SECTIONS: readonly SectionType[] = ['summary', 'review_items', 'preview', 'editable']
const FALLBACK_GROUP = 'operators'
const MAX_QUORUM = 100
const MAX_PRIORITY = 1_000
/** Actions that the system cannot take when a deadline passes, besides those that the author declared. */
const NOT_BY_SYSTEM: readonly string[] = ['edit', 'respond', 'reassign', 'request_edit']

/**
 * Declares a human: a task in the inbox of people, whose decision is the result.
 *
 * ```ts
 * human('approve-refund', { trigger: 'refund.asked', assign: 'group:sales', deadline: '48h', actions: ['approve', 'reject'] })
 * ```
 */
export const human = (name: string, options: HumanOptions = {}): HumanSource => {
  const source = { name, options }
  Object.defineProperty(source, KIND, { value: 'human' })
  return source
}

const defineAssign = (given: TaskOptions['assign'] = [], path: string): AssignDefinition => {
  if (typeof given === 'string' || Array.isArray(given))
    return { ...addresseesOf(given as string | readonly string[], path), rule: null, fallback: FALLBACK_GROUP }
  const { user, users = [], group, groups = [], rule = null, fallback = FALLBACK_GROUP } = given as AssignSource
  return {
    users: user === undefined ? users : [user, ...users],
    groups: group === undefined ? groups : [group, ...groups],
    rule,
    fallback,
  }
}

const defineSection = (source: SectionSource, at: string): SectionDefinition => {
  const { id, title = id, content = null, items = [] } = source
  const path = `${at}.${id}`
  const fallback = source.items === undefined ? 'summary' : 'review_items'
  const type = oneOf(`${path}.type`, source.type ?? fallback, SECTIONS)
  const editable = source.editable ?? type === 'editable'
  if (type !== 'review_items' && source.items !== undefined)
    throw invalid(`${path}.items`, `a section of type ${type} cannot have items`)
  if (editable && type !== 'review_items' && type !== 'editable')
    throw invalid(`${path}.editable`, `a section of type ${type} is read-only`)
  if (type === 'editable' && !editable) throw invalid(`${path}.editable`, 'a section of type editable must be editable')
  const schema = source.schema === undefined ? null : jsonSchemaOf(source.schema, `${path}.schema`)
  return { id, type, title, content: toJson(content), items: toJson(items), editable, schema }
}

/** Without sections, `edit` edits the context. */
const sectionsOf = (options: TaskOptions, path: string): readonly SectionDefinition[] => {
  const given = (options.bundle?.sections ?? []).map((section) => defineSection(section, `${path}.bundle`))
  const ids = given.map(({ id }) => id)
  const twin = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twin !== undefined) throw invalid(`${path}.bundle`, `two sections have the id ${twin}`)
  const edits = (options.actions ?? []).some((entry) => (typeof entry === 'string' ? entry : entry.name) === 'edit')
  if (!edits || given.some(({ editable }) => editable)) return given
  if (options.context === undefined)
    throw invalid(`${path}.actions`, 'edit needs a section that is editable, or a context')
  return [...given, defineSection({ id: 'context', type: 'editable', content: options.context }, path)]
}

const defineQuorum = (
  given: TaskOptions['quorum'] = {},
  { assign, actions }: Pick<HumanDefinition, 'assign' | 'actions'>,
  path: string,
): Quorum => {
  const range = { min: 1, max: MAX_QUORUM }
  const quorum = {
    approve: wholeNumber(`${path}.approve`, given.approve ?? 1, range),
    reject: wholeNumber(`${path}.reject`, given.reject ?? 1, range),
  }
  const people = new Set(assign.users).size + (assign.rule === null ? 0 : 1)
  const isBounded = assign.groups.length === 0 && people > 0
  const needed = votersNeeded({ quorum, actions })
  const split = needed > Math.max(quorum.approve, quorum.reject) ? ', so that votes cannot end in a tie' : ''
  if (isBounded && needed > people)
    throw new TrihandError(
      'QUORUM_IMPOSSIBLE',
      `${path}: the quorum needs ${needed} people${split}; ${people} are assigned`,
      {
        place: { path },
      },
    )
  return quorum
}

const defineSeparation = (given: TaskOptions['separation'] = 'none', path: string): SeparationDefinition => {
  const words = typeof given === 'string' ? [given] : given
  if (typeof given === 'string' && given !== 'none' && given !== 'requester')
    throw invalid(path, `"${given}" is neither none nor requester; give steps as a list`)
  return {
    requester: words.includes('requester'),
    steps: words.filter((word) => word !== 'requester' && word !== 'none'),
  }
}

const defineAuto = (
  given: string | undefined,
  { actions, escalation, deadline }: Pick<HumanDefinition, 'actions' | 'escalation' | 'deadline'>,
  path: string,
): string | null => {
  if (given === undefined) return escalation.length > 0 ? 'escalate' : null
  if (deadline === null) throw invalid(path, 'it needs a deadline')
  if (given === 'expire') return given
  if (given === 'escalate') {
    if (escalation.length === 0) throw invalid(path, 'it needs a level to escalate to')
    return given
  }
  const action = actions.find(({ name }) => name === given)
  const known = actions.map(({ name }) => name).filter((name) => !NOT_BY_SYSTEM.includes(name))
  if (action === undefined || NOT_BY_SYSTEM.includes(given))
    throw invalid(path, `"${given}" is not one of escalate, expire, ${known.join(', ')}`)
  return given
}

const actionsOf = (
  options: TaskOptions,
  taskType: TaskType,
  sections: readonly SectionDefinition[],
  path: string,
): readonly TaskAction[] => {
  const isEditable = sections.some(({ editable }) => editable)
  const hasLevels = (options.escalation ?? []).length > 0
  const given = options.actions ?? defaultActions(taskType, { isEditable, hasLevels })
  const schema = options.outputSchema === undefined ? null : jsonSchemaOf(options.outputSchema, `${path}.outputSchema`)
  return defineActions(given, { required: options.requiredFields ?? [], schema }, `${path}.actions`)
}

const defineTask = (name: string, options: TaskOptions, path: string): HumanDefinition => {
  const taskType = oneOf(`${path}.taskType`, options.taskType ?? 'approval', TYPES)
  const sections = sectionsOf(options, path)
  const actions = actionsOf(options, taskType, sections, path)
  const assign = defineAssign(options.assign, `${path}.assign`)
  const deadline = defineDeadline(options.deadline, `${path}.deadline`)
  const escalation = defineLevels(options.escalation ?? [], `${path}.escalation`)
  const deadlines = [deadline, ...escalation.map((level) => level.deadline)]
  return {
    ...{ name, taskType, sections, actions, assign, deadline, escalation },
    title: options.title ?? name.replaceAll(/[-_]/g, ' '),
    instructions: options.instructions ?? '',
    context: sections.some(({ id }) => id === 'context') ? null : toJson(options.context ?? null),
    reminders: defineReminders(options.reminders, deadlines, `${path}.reminders`),
    autoAction: defineAuto(
      options.autoActionOnTimeout,
      { actions, escalation, deadline },
      `${path}.autoActionOnTimeout`,
    ),
    quorum: defineQuorum(options.quorum, { assign, actions }, `${path}.quorum`),
    separation: defineSeparation(options.separation, `${path}.separation`),
    priority: wholeNumber(`${path}.priority`, options.priority ?? 0, { min: -MAX_PRIORITY, max: MAX_PRIORITY }),
  }
}

const compiled = (definition: HumanDefinition, compile: Compile, path: string): Human => ({
  definition,
  make: withPath(path, () => compileMaker(definition, compile)),
})

const defineHuman = ({ name, options }: HumanSource): HumanDefinition => {
  checkName(name, `humans.${name}`)
  return defineTask(name, options, `humans.${name}`)
}

/** A task that code asks for: its values are literal, not templates. */
export const taskOfStep = (name: string, options: TaskOptions): Human =>
  compiled(defineTask(name, options, `task ${name}`), fromValues, `task ${name}`)

/** A human as a handler: triggers and flow control work as for a function; its code is its question. */
export const humanHandler = (source: HumanSource) => {
  const { name, options } = source
  const { taskType, title, instructions, context, assign, bundle, actions, requiredFields, outputSchema, ...rest } =
    options
  const { deadline, reminders, escalation, autoActionOnTimeout, quorum, separation, priority, ...handler } = rest
  return {
    name,
    options: { ...handler, retry: { maxAttempts: 1 } },
    code: compiled(defineHuman(source), fromTemplates, `humans.${name}`),
    modality: 'human',
  } as const
}

/** The events that its actions send. */
export const humanEvents = (source: HumanSource): readonly string[] =>
  defineHuman(source).actions.flatMap(({ emits }) => emits ?? [])

/** The part of a human that the hash of a system covers. */
export const humanShape = (source: HumanSource): Json => JSON.parse(JSON.stringify(defineHuman(source))) as Json
