/**
 * What a person has marked and not yet submitted, and the submit that comes of it.
 *
 * Pure. Marks are kept on the server as drafts, one per item, and one of the whole for what is typed into forms: this file says what a
 * draft holds and what all of them mean.
 */
import type { Filled } from '#model/kernel/form-fields.ts'
import { isRecord, type Json, type TaskDetail, type TaskDraft, type TaskItem } from '../../api/documents.ts'

export interface Mark {
  readonly verdict: 'approve' | 'reject' | null
  /** New content; undefined: as it was shown. */
  readonly content?: Json
}

/** By item. Null: of the whole task, whose content is what was typed into forms. */
export type Marks = ReadonlyMap<string | null, Mark>

/** What can be marked: the items of every section. */
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

/** Drafts on an older revision are shown as stale and not taken over. What was typed into a form is: its author reads it before a submit. */
export const marksOf = (drafts: readonly TaskDraft[]): Marks =>
  marksIn(drafts.filter(({ item, is_stale }) => item === null || !is_stale))

/** As the server keeps it. */
export const draftOf = (item: string | null, mark: Mark): Json => (item === null ? (mark.content ?? null) : { ...mark })

const formsOf = (marks: Marks): { readonly [action: string]: Json } => {
  const { content = null } = markOf(marks, null)
  const forms = isRecord(content) ? (content['forms'] ?? null) : null
  return isRecord(forms) ? forms : {}
}

/** What was typed into the form of an action; null: nothing yet. */
export const formIn = (marks: Marks, action: string): Filled | null => {
  const forms = formsOf(marks)
  const form = Object.hasOwn(forms, action) ? (forms[action] ?? null) : null
  return isRecord(form) ? (form as Filled) : null
}

/** Null: the form is thrown away. */
export const withForm = (marks: Marks, action: string, filled: Filled | null): Marks => {
  const { [action]: _before, ...others } = formsOf(marks)
  const forms = filled === null ? others : { ...others, [action]: filled }
  const whole = Object.keys(forms).length === 0 ? UNMARKED : { verdict: null, content: { forms } }
  return new Map(marks).set(null, whole)
}

/** What was marked on an older revision, of items that are still there. Its edits were edits of something else: they are left. */
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

/** Something is marked or typed. What was taken back is not. */
export const isAnyMarked = (marks: Marks): boolean => [...marks.values()].some((mark) => !isSameMark(mark, UNMARKED))

type Part = Json | undefined

/** The merged part in a list. Null: both have changed it, each in its own way. */
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

/** Two changes of one mark, where they are changes of different parts of it. Null: only the person can say which counts. */
export const mergedMark = (before: Mark, mine: Mark, theirs: Mark): Mark | null => {
  const verdict = mergedPart(before.verdict, mine.verdict, theirs.verdict)
  const content = mergedPart(before.content, mine.content, theirs.content)
  if (verdict === null || content === null) return null
  const said = verdict[0] === 'approve' || verdict[0] === 'reject' ? verdict[0] : null
  return content[0] === undefined ? { verdict: said } : { verdict: said, content: content[0] }
}

/** Items of which two tabs of one person say different things. */
export const differing = (items: readonly TaskItem[], one: Marks, other: Marks): readonly TaskItem[] =>
  items.filter(({ id }) => !isSameMark(markOf(one, id), markOf(other, id)))

/** Drafts that are no part of how the task was closed. */
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

/** What each marked item says in the submit; an item that was not marked goes by the action. */
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

/** Every item that has no mark is approved. */
export const restApproved = (items: readonly TaskItem[], marks: Marks): Marks =>
  new Map([
    ...marks,
    ...items.flatMap(({ id }) => {
      const mark = markOf(marks, id)
      return mark.verdict === null ? [[id, { ...mark, verdict: 'approve' }] as const] : []
    }),
  ])
