/**
 * Brings the actions of a task from what an author writes to the normal form: built-in ones by name, others with what they need and do.
 *
 * Owns their defaults and every refusal of them. The table of built-in ones is model/task/action.ts.
 */
import { checkName, invalid } from '#manifest/define/invalid.ts'
import { withPath } from '#manifest/expressions/ranges.ts'
import { compileTemplate } from '#manifest/expressions/template.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { isEventType, isReservedType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import { builtInAction, isBuiltIn } from '#model/task/action.ts'
import type { ActionSource } from '#model/task/source.ts'
import type { ActionState, TaskAction, TaskType } from '#model/task/spec.ts'

const CLOSED: readonly string[] = ['approved', 'rejected', 'completed'] satisfies readonly ActionState[]
const OPEN: readonly string[] = ['pending', 'in_review', 'revision_requested'] satisfies readonly ActionState[]

const EVENT_ROOTS = ['task', 'payload']

const DEFAULTS: Readonly<Record<TaskType, readonly string[]>> = {
  approval: ['approve', 'reject'],
  review: ['approve', 'request_edit', 'reject'],
  input: ['respond'],
  decision: ['respond'],
}

const emitsOf = ({ emits, emitsEvent = emits }: ActionSource, path: string): string | null => {
  if (emits !== undefined && emits !== emitsEvent) throw invalid(path, 'emits and emitsEvent name different events')
  if (emitsEvent === undefined) return null
  if (!isEventType(emitsEvent)) throw invalid(`${path}.emitsEvent`, `"${emitsEvent}" is not an event type`)
  if (isReservedType(emitsEvent))
    throw new TrihandError('EVENT_RESERVED', `${path}: ${emitsEvent} has a reserved prefix`, { place: { path } })
  return emitsEvent
}

/** The roots of its templates are checked here; they are filled in when the action is performed. */
const payloadOf = ({ eventPayload }: ActionSource, path: string): Json => {
  if (eventPayload === undefined) return null
  const payload = toJson(eventPayload)
  withPath(`${path}.eventPayload`, () => compileTemplate(payload, EVENT_ROOTS))
  return payload
}

const stateOf = (source: ActionSource, terminal: boolean, path: string): ActionState => {
  const { nextState, returnsTo, marksApproved } = source
  const open = returnsTo === undefined ? 'pending' : 'revision_requested'
  const closed = marksApproved === true ? 'approved' : 'completed'
  const state = nextState ?? (terminal ? closed : open)
  const words = terminal ? CLOSED : OPEN
  if (!words.includes(state))
    throw invalid(
      `${path}.nextState`,
      `"${state}" is not one of ${words.join(', ')}, as terminal is ${JSON.stringify(terminal)}`,
    )
  return state as ActionState
}

/** A built-in action cannot be redefined, because people rely on its name. */
const builtInOf = (source: ActionSource & { readonly name: Parameters<typeof builtInAction>[0] }, path: string) => {
  const base = builtInAction(source.name)
  if (source.terminal !== undefined && source.terminal !== base.terminal)
    throw invalid(`${path}.terminal`, `${source.name} has terminal: ${base.terminal}; give another action its own name`)
  if (source.nextState !== undefined && source.nextState !== base.nextState)
    throw invalid(`${path}.nextState`, `${source.name} leads to ${base.nextState}; give another action its own name`)
  if (source.requiresReason === false && base.requiresReason)
    throw invalid(`${path}.requiresReason`, `${source.name} always needs a reason`)
  return base
}

const customOf = (source: ActionSource, path: string): TaskAction => {
  const terminal = source.terminal ?? true
  const nextState = stateOf(source, terminal, path)
  return { ...builtInAction('respond'), name: source.name, label: source.name, terminal, nextState }
}

const listOf = (given: string | readonly string[]): readonly string[] => (typeof given === 'string' ? [given] : given)

const marksOf = ({ marksApproved: marks }: ActionSource, base: TaskAction, path: string): readonly string[] | null => {
  if (marks === undefined) return null
  const approves = base.nextState === 'approved'
  if (marks === false) {
    if (approves) throw invalid(`${path}.marksApproved`, `${base.name} leads to approved, so it must approve something`)
    return base.nextState === 'completed' ? [] : null
  }
  if (!base.terminal || base.nextState === 'rejected' || (marks === true && !approves))
    throw invalid(`${path}.marksApproved`, `${base.name} does not lead to approved, so it cannot approve anything`)
  return marks === true ? null : listOf(marks)
}

/** The fields of a task belong to every action that completes it successfully, unless the action says otherwise. */
const fieldsOf = (source: ActionSource, base: TaskAction, ofTask: readonly string[]): readonly string[] => {
  if (source.requiredFields !== undefined) return source.requiredFields
  return base.terminal && base.nextState !== 'rejected' ? ofTask : []
}

const schemaOf = ({ eventPayloadSchema: own, name }: ActionSource, ofTask: Json, path: string): Json => {
  if (own !== undefined) return jsonSchemaOf(own, `${path}.eventPayloadSchema`)
  return name === 'respond' ? ofTask : null
}

/** The fields that a task as a whole asks for. */
export interface AskedFields {
  readonly required: readonly string[]
  readonly schema: Json
}

const defineAction = (given: string | ActionSource, fields: AskedFields, at: string): TaskAction => {
  const source = typeof given === 'string' ? { name: given } : given
  const { name } = source
  const path = `${at}.${name}`
  checkName(name, path)
  const base = isBuiltIn(name) ? builtInOf({ ...source, name }, path) : customOf(source, path)
  if (source.returnsTo !== undefined && base.nextState !== 'revision_requested')
    throw invalid(`${path}.returnsTo`, `${name} leads to ${base.nextState}, which returns to no step`)
  return {
    ...base,
    label: source.label ?? base.label,
    requiresReason: source.requiresReason ?? base.requiresReason,
    marksApproved: marksOf(source, base, path),
    requiredFields: fieldsOf(source, base, fields.required),
    fieldsSchema: schemaOf(source, fields.schema, path),
    emits: emitsOf(source, path),
    eventPayload: payloadOf(source, path),
    returnsTo: source.returnsTo ?? null,
  }
}

/** The actions of the task's type, one to reassign it, and those that its sections and levels make possible. */
export const defaultActions = (
  type: TaskType,
  { isEditable, hasLevels }: { readonly isEditable: boolean; readonly hasLevels: boolean },
): readonly string[] => {
  const isReviewed = type === 'approval' || type === 'review'
  return [
    ...DEFAULTS[type],
    ...(isReviewed && isEditable ? ['edit'] : []),
    'reassign',
    ...(hasLevels ? ['escalate'] : []),
  ]
}

export const defineActions = (
  given: readonly (string | ActionSource)[],
  fields: AskedFields,
  path: string,
): readonly TaskAction[] => {
  const actions = given.map((entry) => defineAction(entry, fields, path))
  const names = actions.map(({ name }) => name)
  const twin = names.find((name, i) => names.indexOf(name) !== i)
  if (twin !== undefined) throw invalid(path, `two actions are named ${twin}`)
  if (!actions.some(({ terminal }) => terminal)) throw invalid(path, 'no action ends the task')
  return actions
}
