/**
 * Parses what a person sends about a task.
 *
 * Owns the shape of the input and its errors. Whether the task accepts it is decided by the task.
 */
import type { Decision } from '#engine/tasks/tasks.ts'
import { ITEM_VERDICTS } from '#http/documents/tasks.ts'
import { type Members, optionalText, textOf } from '#http/server/body.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, isTaskId, type TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Addressee, ItemChoice, MarkVerdict } from '#model/task/fact.ts'
import { parseIsoTime } from './time.ts'

export const CODE = 'INPUT_INVALID'

const ADDRESS = /^(user|group):(.+)$/s

type Record = { readonly [name: string]: Json }

const recordOf = (members: Members, name: string): Record => {
  const value = members[name] ?? {}
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new TrihandError(CODE, `${name} must be an object`)
  return value as Record
}

const choiceOf = (item: string, given: Json): ItemChoice => {
  const { status, modifications, ...rest } = (given ?? {}) as { status?: Json; modifications?: Json }
  const word = ITEM_VERDICTS.find((known) => known === status)
  if (word === undefined) throw new TrihandError(CODE, `items.${item}.status is not one of ${ITEM_VERDICTS.join(', ')}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new TrihandError(CODE, `items.${item} has no member ${unknown}`)
  return { status: word, ...(modifications !== undefined && { modifications }) }
}

/** `user:eve` or `group:leads`; a bare name is a person. */
const addressee = (text: Json): Addressee => {
  if (typeof text !== 'string' || text.trim() === '')
    throw new TrihandError(CODE, 'to must be a list of users and groups, as texts')
  const [, kind = 'user', id = text] = ADDRESS.exec(text) ?? []
  return { id, kind: kind as Addressee['kind'] }
}

const targets = (members: Members): readonly Addressee[] => {
  const { to = [] } = members
  return (Array.isArray(to) ? to : [to]).map(addressee)
}

/** The revision of their own drafts that the caller has seen; null: none is given. */
export const draftRevisionOf = ({ draft_revision: given = null }: Members): number | null => {
  if (given === null) return null
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 0)
    throw new TrihandError(CODE, 'draft_revision must be a whole number, as the task shows it')
  return given
}

export const confirmationOf = (members: Members): Pick<Decision, 'confirm' | 'acknowledged'> => ({
  confirm: optionalText(members, 'confirm', CODE) ?? null,
  acknowledged: members['acknowledged'] === true,
})

export const decisionOf = (members: Members, key: string | null): Decision => ({
  action: textOf(members, 'action', CODE),
  reason: optionalText(members, 'reason', CODE) ?? null,
  fields: recordOf(members, 'fields'),
  items: Object.fromEntries(
    Object.entries(recordOf(members, 'items')).map(([item, given]) => [item, choiceOf(item, given)]),
  ),
  shownHash: optionalText(members, 'shown_hash', CODE) ?? null,
  draftRevision: draftRevisionOf(members),
  to: targets(members),
  key,
  ...confirmationOf(members),
})

export const taskOf = (text: string): TaskId => {
  const id = text.startsWith('tsk_') ? text : `tsk_${text.replaceAll('-', '')}`
  if (!isTaskId(id)) throw new TrihandError('NOT_FOUND', `"${text}" is not the id of a task`)
  return id
}

/** `key`: the key of the request. It identifies each of its decisions together with the task. */
export const bulkOf = (members: Members, key: string | null): readonly (Decision & { readonly task: TaskId })[] => {
  const { decisions } = members
  if (!Array.isArray(decisions)) throw new TrihandError(CODE, 'decisions must be a list')
  return decisions.map((given: Json) => {
    if (given === null || typeof given !== 'object' || Array.isArray(given))
      throw new TrihandError(CODE, 'each of the decisions must be an object with task and action')
    const { task, ...rest } = given as Record
    if (typeof task !== 'string') throw new TrihandError(CODE, 'each of the decisions must name its task')
    return { task: taskOf(task), ...decisionOf(rest, key) }
  })
}

const MARKS: { readonly [status: string]: MarkVerdict } = { approved: 'approve', rejected: 'reject', pending: null }

export const markOf = (members: Members): { readonly where: string; readonly verdict: MarkVerdict } => {
  const status = textOf(members, 'status', CODE)
  const verdict = Object.hasOwn(MARKS, status) ? MARKS[status] : undefined
  if (verdict === undefined)
    throw new TrihandError(CODE, `status "${status}" is not one of ${Object.keys(MARKS).join(', ')}`)
  return { where: textOf(members, 'where', CODE), verdict }
}

/** Null: the task returns to the inbox at once. */
export const untilOf = (members: Members): Instant | null => {
  if (members['until'] === null || members['until'] === undefined) return null
  const instant = parseIsoTime(textOf(members, 'until', CODE))
  if (instant === null)
    throw new TrihandError(
      'INSTANT_WITHOUT_ZONE',
      'until must be an instant with its offset, like 2026-01-31T08:00:00Z',
    )
  return instant
}
