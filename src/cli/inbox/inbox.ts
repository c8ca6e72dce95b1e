/**
 * `trihand inbox approve|reject|respond|request-edit|edit`: a person reads a task at a terminal and decides on what they read.
 *
 * Owns the question in between: the decision is bound by its hash to what this very call has printed. Without a terminal `--hash` names
 * what was seen. What a decision does is a rule of the task.
 */
import { withApi } from '#cli/connect/connect.ts'
import { requireWho } from '#cli/connect/who.ts'
import { confirmed, isMeant, requireTerminal } from '#cli/terminal/confirm.ts'
import { type Ask, converse } from '#cli/terminal/conversation.ts'
import { editedJson } from '#cli/terminal/editor.ts'
import { askForm, begun, formOf } from '#cli/terminal/form.ts'
import { EXIT } from '#cli/terminal/output.ts'
import type { Shell, Verb } from '#cli/terminal/shell.ts'
import type { Json, TaskDetail, TaskItem } from '#http/openapi/api.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { decideTask, pathOf, printTask, type TaskFlags } from './tasks.ts'

export interface DecisionFlags extends TaskFlags {
  readonly reason?: string
  readonly fields?: string
  /** For a bundle: comma-separated item ids that the decision applies to. */
  readonly items?: string
  /** For a bundle: the decision on all other items. */
  readonly rest?: string
  readonly hash?: string
  readonly draftRevision?: string
  readonly key?: string
}

type Choice = { readonly status: 'approved' | 'rejected' | 'edited'; readonly modifications?: Json }
type Choices = Readonly<Record<string, Choice>>

interface Word {
  readonly action: string
  readonly hash: string
  /** The revision of the drafts that were printed. Absent: the flag gives it. */
  readonly draftRevision?: number
  readonly choices: Choices | null
}

const STATUS: Readonly<Record<string, Choice['status']>> = { approve: 'approved', reject: 'rejected' }

const itemsOf = ({ sections }: TaskDetail): readonly TaskItem[] => sections.flatMap(({ items }) => items)

const invalid = (detail: string): TrihandError => new TrihandError('CONFIG_INVALID', detail)

/** The listed items; each must exist. */
const named = (task: TaskDetail, list: string): readonly string[] => {
  const there = itemsOf(task).map(({ id }) => id)
  const ids = list.split(',').filter((id) => id !== '')
  const unknown = ids.find((id) => !there.includes(id))
  if (unknown === undefined) return ids
  throw invalid(`the task has no item ${unknown}; its items are ${there.join(', ') || 'none'}`)
}

/** The decision on each item of a bundle; null: it is on the whole task. */
const choicesOf = (task: TaskDetail, action: string, { items, rest }: DecisionFlags): Choices | null => {
  if (items === undefined && rest === undefined) return null
  const [status, others] = [STATUS[action], STATUS[rest ?? '']]
  if (status === undefined || items === undefined)
    throw invalid('--items a,b and --rest need approve or reject, and --rest needs --items')
  if (others === undefined) throw invalid('decide the other items too: --rest approve or --rest reject')
  const chosen = new Set(named(task, items))
  return Object.fromEntries(itemsOf(task).map(({ id }) => [id, { status: chosen.has(id) ? status : others }]))
}

const read = (shell: Shell, flags: TaskFlags): Promise<TaskDetail> =>
  withApi(shell, flags, { need: 'look' }, (api) => api.get<TaskDetail>(pathOf(flags.id), requireWho(flags)))

const questionOf = (action: string, { title }: TaskDetail, { as }: DecisionFlags) => ({
  text: `${action} "${title}" as ${as}?`,
  flag: '--hash, as `trihand inbox show` prints it',
})

/** Decides through `tasks decide`, where items are given as choices. */
const give = (shell: Shell, { items, rest, ...flags }: DecisionFlags, word: Word): Promise<number> => {
  const { action, hash, choices, draftRevision } = word
  const seen = draftRevision === undefined ? {} : { draftRevision: String(draftRevision) }
  return decideTask(shell, {
    ...flags,
    ...seen,
    action,
    hash,
    ...(choices !== null && { items: JSON.stringify(choices) }),
  })
}

/** If any item is not rejected, the action is an approval; the choices say which items. */
const wordFor = (action: string, choices: Choices | null): string => {
  if (choices === null) return action
  return Object.values(choices).some(({ status }) => status !== 'rejected') ? 'approve' : 'reject'
}

const seenIn = ({ shown_hash: hash, draft_revision: draftRevision }: TaskDetail) => ({ hash, draftRevision })

const nothingDone = (shell: Shell): number => {
  shell.output.talk('nothing was decided')
  return EXIT.no
}

type Told = Pick<DecisionFlags, 'fields' | 'reason'>

/** Asks for what the action requires and no flag gives: its fields, and a reason if it needs one. Null: the person cancelled. */
const filledIn = async (
  { output }: Shell,
  task: TaskDetail,
  { action, fields, reason }: Told & { readonly action: string },
  ask: Ask,
): Promise<Told | null> => {
  const own = task.actions.find(({ name }) => name === action)
  if (own === undefined) return {}
  const form = fields === undefined ? begun(formOf(own), task, action) : []
  const value = await askForm(form, ask, (text) => output.talk(text))
  if (value === null) return null
  const told = form.length === 0 ? {} : { fields: JSON.stringify(value) }
  if (!own.requires_reason || reason !== undefined) return told
  const why = await ask('Reason: ')
  return why === null ? null : { ...told, reason: why.trim() }
}

export const decideVerb =
  (action: string): Verb<DecisionFlags> =>
  async (shell, flags) => {
    const task = await read(shell, flags)
    const choices = choicesOf(task, action, flags)
    const word = wordFor(action, choices)
    if (flags.hash !== undefined) return give(shell, flags, { action: word, hash: flags.hash, choices })
    const question = questionOf(action, task, flags)
    requireTerminal(shell.output, question)
    printTask(shell.output, task)
    const told = await converse(async (ask) => {
      const filled = await filledIn(shell, task, { ...flags, action: word }, ask)
      return filled !== null && (await isMeant(shell.output, question, ask)) ? filled : null
    })
    if (told === null) return nothingDone(shell)
    return give(shell, { ...flags, ...told }, { action: word, ...seenIn(task), choices })
  }

/** Opens items in the person's editor; shows the differences before they are sent. */
export const editTask: Verb<DecisionFlags> = async (shell, flags) => {
  const task = await read(shell, flags)
  const question = {
    text: `Approve "${task.title}" with these changes, as ${flags.as}?`,
    flag: '`tasks decide --items`',
  }
  requireTerminal(shell.output, question)
  const wanted = flags.items === undefined ? itemsOf(task).map(({ id }) => id) : named(task, flags.items)
  const before = Object.fromEntries(
    itemsOf(task).flatMap(({ id, content }) => (wanted.includes(id) ? [[id, content]] : [])),
  )
  if (wanted.length === 0) throw invalid('the task has no items to edit; `trihand inbox show` lists its actions')
  const after = editedJson(before)
  const changed = Object.entries(after).filter(
    ([id, content]) => JSON.stringify(content) !== JSON.stringify(before[id]),
  )
  if (changed.length === 0) return nothingDone(shell)
  const strange = changed.find(([id]) => before[id] === undefined)
  if (strange !== undefined)
    throw invalid(`the edited file has a new item ${strange[0]}; only change the content of existing items`)
  for (const [id, content] of changed) {
    shell.output.line(`- ${id} ${JSON.stringify(before[id])}`)
    shell.output.line(`+ ${id} ${JSON.stringify(content)}`)
  }
  if (!(await confirmed(shell.output, question))) return nothingDone(shell)
  const choices = Object.fromEntries(
    changed.map(([id, modifications]) => [id, { status: 'edited' as const, modifications }]),
  )
  return give(shell, flags, { action: 'approve', ...seenIn(task), choices })
}
