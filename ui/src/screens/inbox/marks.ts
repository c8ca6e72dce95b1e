/**
 * What a person has marked and not yet submitted, and the submit that comes of it.
 *
 * Pure. Marks are kept on the server as drafts, one per item: this file says what a draft holds and what all of them mean.
 */
import { isRecord, type Json, type TaskDetail, type TaskDraft, type TaskItem } from '../../api/documents.ts'

export interface Mark {
  readonly verdict: 'approve' | 'reject' | null
  /** New content; undefined: as it was shown. */
  readonly content?: Json
}

export type Marks = ReadonlyMap<string, Mark>

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

const marksIn = (drafts: readonly TaskDraft[]): Marks =>
  new Map(drafts.flatMap((draft) => (draft.item === null ? [] : [[draft.item, markIn(draft)]])))

/** Drafts on an older revision are shown as stale and not taken over. */
export const marksOf = (drafts: readonly TaskDraft[]): Marks => marksIn(drafts.filter(({ is_stale }) => !is_stale))

/** What was marked on an older revision, of items that are still there. Its edits were edits of something else: they are left. */
export const staleMarksOf = (task: Pick<TaskDetail, 'drafts' | 'sections'>): Marks => {
  const there = new Set(itemsOf(task).map(({ id }) => id))
  const old = marksIn(task.drafts.filter(({ is_stale }) => is_stale))
  return new Map(
    [...old].flatMap(([id, { verdict }]) => (there.has(id) && verdict !== null ? [[id, { verdict }]] : [])),
  )
}

export const markOf = (marks: Marks, item: string): Mark => marks.get(item) ?? UNMARKED

export const isSameMark = (one: Mark, other: Mark): boolean =>
  one.verdict === other.verdict && JSON.stringify(one.content) === JSON.stringify(other.content)

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
