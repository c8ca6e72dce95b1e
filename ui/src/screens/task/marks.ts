/**
 * Marks: what a user has chosen for each item and not submitted yet. Also builds the submit from them.
 *
 * Pure. The server stores marks as drafts: one per item, and one for the whole task with the form values.
 */
import type { Filled } from '#model/kernel/form-fields.ts'
import { isRecord, type Json, type TaskDetail, type TaskDraft, type TaskItem } from '../../api/documents.ts'

export interface Mark {
  readonly verdict: 'approve' | 'reject' | null
  /** Edited content. Default: unchanged. */
  readonly content?: Json
}

/** Marks by item id. The key null is the whole task: its content holds the form values. */
export type Marks = ReadonlyMap<string | null, Mark>

/** The items of all sections. */
export const itemsOf = ({ sections }: Pick<TaskDetail, 'sections'>): readonly TaskItem[] =>
  sections.flatMap(({ items }) => items)

export const UNMARKED: Mark = { verdict: null }

const markIn = ({ content }: TaskDraft): Mark => {
  if (!isRecord(content)) return UNMARKED
  const { verdict } = content
  const known = verdict === 'approve' || verdict === 'reject' ? verdict : null
  return content['content'] === undefined ? { verdict: known } : { verdict: known, content: content['content'] }
}

const wholeIn = ({ content }: TaskDraft): Mark => (content === null ? UNMARKED : { verdict: null, content })

const marksIn = (drafts: readonly TaskDraft[]): Marks =>
  new Map(drafts.map((draft) => [draft.item, draft.item === null ? wholeIn(draft) : markIn(draft)]))

/** The marks in the drafts. Skips item drafts of an older revision. Keeps form values: the user reads them again before a submit. */
export const marksOf = (drafts: readonly TaskDraft[]): Marks =>
  marksIn(drafts.filter(({ item, is_stale }) => item === null || !is_stale))

/** The mark as the server stores it. */
export const draftOf = (item: string | null, mark: Mark): Json => (item === null ? (mark.content ?? null) : { ...mark })

const formsOf = (marks: Marks): { readonly [action: string]: Json } => {
  const { content = null } = markOf(marks, null)
  const forms = isRecord(content) ? (content['forms'] ?? null) : null
  return isRecord(forms) ? forms : {}
}

/** The form values of an action. Null: nothing typed yet. */
export const formIn = (marks: Marks, action: string): Filled | null => {
  const forms = formsOf(marks)
  const form = Object.hasOwn(forms, action) ? (forms[action] ?? null) : null
  return isRecord(form) ? (form as Filled) : null
}

/** Sets the form values of an action. Null removes them. */
export const withForm = (marks: Marks, action: string, filled: Filled | null): Marks => {
  const { [action]: _before, ...others } = formsOf(marks)
  const forms = filled === null ? others : { ...others, [action]: filled }
  const whole = Object.keys(forms).length === 0 ? UNMARKED : { verdict: null, content: { forms } }
  return new Map(marks).set(null, whole)
}

/** Marks of an older revision, for items that still exist. Drops their edits, which belong to the old content. */
export const staleMarksOf = (task: Pick<TaskDetail, 'drafts' | 'sections'>): Marks => {
  const there = new Set(itemsOf(task).map(({ id }) => id))
  const old = marksIn(task.drafts.filter(({ is_stale }) => is_stale))
  return new Map(
    [...old].flatMap(([id, { verdict }]) =>
      id !== null && there.has(id) && verdict !== null ? [[id, { verdict }]] : [],
    ),
  )
}

export const markOf = (marks: Marks, item: string | null): Mark => marks.get(item) ?? UNMARKED

export const isSameMark = (one: Mark, other: Mark): boolean =>
  one.verdict === other.verdict && JSON.stringify(one.content) === JSON.stringify(other.content)

/** Whether anything is marked or typed. */
export const isAnyMarked = (marks: Marks): boolean => [...marks.values()].some((mark) => !isSameMark(mark, UNMARKED))

type Part = Json | undefined

/** The merged value, wrapped in a list. Null: both sides changed it differently. */
const mergedPart = (before: Part, mine: Part, theirs: Part): readonly [Part] | null => {
  const [old, one, other] = [before, mine, theirs].map((part) => JSON.stringify(part))
  if (one === other || other === old) return [mine]
  if (one === old) return [theirs]
  if (mine === undefined || theirs === undefined || !isRecord(mine) || !isRecord(theirs)) return null
  const base = before !== undefined && isRecord(before) ? before : {}
  const merged: Record<string, Json> = {}
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const part = mergedPart(base[name], mine[name], theirs[name])
    if (part === null) return null
    if (part[0] !== undefined) merged[name] = part[0]
  }
  return [merged]
}

/** Merges two changes of one mark. Null: they conflict, and the user must choose. */
export const mergedMark = (before: Mark, mine: Mark, theirs: Mark): Mark | null => {
  const verdict = mergedPart(before.verdict, mine.verdict, theirs.verdict)
  const content = mergedPart(before.content, mine.content, theirs.content)
  if (verdict === null || content === null) return null
  const said = verdict[0] === 'approve' || verdict[0] === 'reject' ? verdict[0] : null
  return content[0] === undefined ? { verdict: said } : { verdict: said, content: content[0] }
}

/** Items whose marks differ between two tabs of the same user. */
export const differing = (items: readonly TaskItem[], one: Marks, other: Marks): readonly TaskItem[] =>
  items.filter(({ id }) => !isSameMark(markOf(one, id), markOf(other, id)))

/** Items whose drafts are not part of the decision. */
export const leftOut = (items: readonly TaskItem[], marks: Marks): readonly TaskItem[] =>
  items.filter((item) => {
    const { verdict, content } = markOf(marks, item.id)
    if (verdict === 'reject') return item.status !== 'rejected'
    if (verdict === null && content === undefined) return false
    const isApproved = item.status === 'approved' || item.status === 'edited'
    return !isApproved || (content !== undefined && JSON.stringify(content) !== JSON.stringify(item.content))
  })

export const isEdited = (item: TaskItem, mark: Mark): boolean =>
  mark.content !== undefined && JSON.stringify(mark.content) !== JSON.stringify(item.content)

export interface Progress {
  readonly total: number
  readonly reviewed: number
  readonly rejected: number
  readonly edited: number
}

export const progressOf = (items: readonly TaskItem[], marks: Marks): Progress => {
  const own = items.map((item) => ({ item, mark: markOf(marks, item.id) }))
  return {
    total: items.length,
    reviewed: own.filter(({ mark }) => mark.verdict !== null).length,
    rejected: own.filter(({ mark }) => mark.verdict === 'reject').length,
    edited: own.filter(({ item, mark }) => mark.verdict !== 'reject' && isEdited(item, mark)).length,
  }
}

type Choice = { readonly status: 'approved' | 'rejected' | 'edited'; readonly modifications?: Json }

/** The choice for each marked item. The action applies to the others. */
export const choicesOf = (items: readonly TaskItem[], marks: Marks): Readonly<Record<string, Choice>> => {
  const choices: Record<string, Choice> = {}
  for (const item of items) {
    const mark = markOf(marks, item.id)
    if (mark.verdict === 'reject') choices[item.id] = { status: 'rejected' }
    else if (isEdited(item, mark)) choices[item.id] = { status: 'edited', modifications: mark.content ?? null }
    else if (mark.verdict === 'approve') choices[item.id] = { status: 'approved' }
  }
  return choices
}

/** Approves every item without a mark. */
export const restApproved = (items: readonly TaskItem[], marks: Marks): Marks =>
  new Map([
    ...marks,
    ...items.flatMap(({ id }) => {
      const mark = markOf(marks, id)
      return mark.verdict === null ? [[id, { ...mark, verdict: 'approve' }] as const] : []
    }),
  ])
