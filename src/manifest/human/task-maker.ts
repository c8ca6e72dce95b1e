/**
 * Makes the task of one run from a human's definition: fills in templates, lists items, resolves people.
 *
 * Owns the compilation. Fails closed: if nobody can be asked, the fallback group is asked.
 */
import { compileRule } from '#manifest/expressions/rules.ts'
import type { Template } from '#manifest/expressions/template.ts'
import { compileValue } from '#manifest/expressions/values.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type {
  AssignDefinition,
  DeadlineDefinition,
  HumanDefinition,
  People,
  SectionDefinition,
  TaskMaker,
} from '#model/task/human.ts'
import { isInReach } from '#model/task/quorum.ts'
import type { Assignees, Deadline, Section, SectionItem, TaskSpec } from '#model/task/spec.ts'
import { deadlineOf } from './time.ts'

type Roots = Parameters<Template>[0]
type Filled<Value> = (roots: Roots) => Value

/** The roots that templates and rules of a task may use. */
const ROOTS = ['event', 'payload', 'trigger', 'run', 'session', 'steps', 'inputs', 'agent', 'output']

/** Compiles a value for this run. A task that code asks for has literal values: braces in them are only text. */
export type Compile = (given: Json) => Template
export const fromTemplates: Compile = (given) => compileValue(given, ROOTS)
export const fromValues: Compile = (given) => () => given

const failed = (code: ErrorCode, path: string, problem: string): TrihandError =>
  new TrihandError(code, `${path}: ${problem}`)

const text = (value: Json): string => {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const itemOf = (content: Json, position: number): SectionItem => {
  const own = isJsonRecord(content) ? content : {}
  const { id: given, title, name, subject } = own
  const id = typeof given === 'string' || typeof given === 'number' ? String(given) : String(position)
  const heading = [title, name, subject].find((value) => typeof value === 'string')
  return { id, title: typeof heading === 'string' ? heading : id, content }
}

const sectionOf = (definition: SectionDefinition, compile: Compile): Filled<Section> => {
  const { id, type, editable, schema } = definition
  const [title, content, items] = [definition.title, definition.content, definition.items].map(compile)
  return (roots) => {
    const listed = items?.(roots) ?? []
    if (!Array.isArray(listed)) throw failed('INPUT_INVALID', `section ${id}`, 'its items must be a list')
    return {
      ...{ id, type, editable, schema },
      title: text(title?.(roots) ?? id),
      content: content?.(roots) ?? null,
      items: listed.map(itemOf),
    }
  }
}

/** The user id that the rule gives; null if it gives none. */
const ruledUser = (rule: string | null, compile: Compile): Filled<string | null> => {
  if (rule === null || compile === fromValues) return () => null
  const compiled = compileRule(rule, ROOTS)
  return (roots) => {
    const answer = compiled(roots)
    return answer.kind === 'value' && typeof answer.value === 'string' && answer.value !== '' ? answer.value : null
  }
}

const assignmentOf = (assign: AssignDefinition, compile: Compile): ((roots: Roots, people: People) => Assignees) => {
  const ruled = ruledUser(assign.rule, compile)
  return (roots, { isKnown }) => {
    const user = assign.rule === null ? [] : [ruled(roots)]
    const wanted = [...assign.users, ...user]
    const users = wanted.filter((id): id is string => id !== null && isKnown(id))
    const isComplete = users.length === wanted.length && users.length + assign.groups.length > 0
    const groups = isComplete ? assign.groups : [...assign.groups, assign.fallback]
    return { users: [...new Set(users)], groups: [...new Set(groups)] }
  }
}

const dueOf = (deadline: DeadlineDefinition | null, compile: Compile): Filled<Deadline | null> => {
  if (deadline?.kind !== 'template') return () => deadline
  const template = compile(deadline.text)
  return (roots) => {
    const value = template(roots)
    if (value === null) return null
    if (typeof value !== 'string' && typeof value !== 'number')
      throw failed('INPUT_INVALID', 'deadline', `${deadline.text} is neither a duration nor an instant`)
    return deadlineOf(value, 'deadline')
  }
}

/** requester-1. Fails closed: if the requester is not known, the people to exclude are not known, and so nobody is asked. */
const excludedBy = ({ name, separation }: HumanDefinition, { requesters, decidersOf }: People): readonly string[] => {
  const { requester, steps } = separation
  if (requester && requesters.length === 0)
    throw failed(
      'REQUESTER_UNKNOWN',
      name,
      'it excludes the requester, but neither a credential nor a field names the requester',
    )
  return [...new Set([...(requester ? requesters : []), ...steps.flatMap((step) => decidersOf(step))])]
}

/** If too few of the assignees may decide because the others are excluded, the fallback group is asked, too. */
const enough = (to: Assignees, { quorum, actions, assign }: HumanDefinition, excluded: readonly string[]): Assignees =>
  isInReach({ quorum, actions, excluded }, to) ? to : { ...to, groups: [assign.fallback] }

export const compileMaker = (definition: HumanDefinition, compile: Compile): TaskMaker => {
  const { taskType: type, name, actions, escalation, reminders, autoAction, quorum, priority } = definition
  const [title, instructions, context] = [definition.title, definition.instructions, definition.context].map(compile)
  const sections = definition.sections.map((section) => sectionOf(section, compile))
  const assigned = assignmentOf(definition.assign, compile)
  const due = dueOf(definition.deadline, compile)
  return (roots, people): TaskSpec => {
    const excluded = excludedBy(definition, people)
    return {
      ...{ type, name, actions, reminders, autoAction, quorum, priority },
      origin: 'human',
      title: text(title?.(roots) ?? name),
      instructions: text(instructions?.(roots) ?? ''),
      context: context?.(roots) ?? null,
      remarks: null,
      requester: people.requesters.length === 0 ? null : people.requesters.join(', '),
      sections: sections.map((fill) => fill(roots)),
      levels: [{ to: enough(assigned(roots, people), definition, excluded), deadline: due(roots) }, ...escalation],
      excluded,
    }
  }
}
