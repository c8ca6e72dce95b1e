/**
 * What a person marks on an item before they submit: approve or reject, perhaps with new content. Kept as a draft of that item.
 *
 * Owns what such a draft holds, and which drafts come of marking many at once. A mark decides nothing: only a submit does.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { MarkVerdict, OpenTask, TaskDraft, TaskItem } from './fact.ts'

export interface MarkContent {
  readonly verdict?: Json
  readonly content?: Json
}

export const contentIn = (draft: TaskDraft | undefined): MarkContent =>
  draft !== undefined && typeof draft.content === 'object' && draft.content !== null && !Array.isArray(draft.content)
    ? (draft.content as MarkContent)
    : {}

/** The draft that says this of the item; an edit of the same revision stays. Null: it says so already. */
export const markedDraft = (
  { drafts, revision }: Pick<OpenTask, 'drafts' | 'revision'>,
  by: string,
  item: string,
  verdict: MarkVerdict,
): Json => {
  const kept = contentIn(drafts.find((draft) => draft.by === by && draft.item === item && draft.revision === revision))
  if ((kept.verdict ?? null) === verdict) return null
  return { verdict, ...(kept.content !== undefined && { content: kept.content }) }
}

/** What a rule may ask of an item. */
export const MARK_ROOTS = ['item', 'title', 'section']

/** What a rule found: those it is true of, and those of which it cannot say. */
export interface Found {
  readonly items: readonly string[]
  readonly unclear: readonly { readonly item: string; readonly detail: string }[]
}

/** Fail closed: what is neither true nor false of an item marks nothing. */
export const findItems = (items: readonly TaskItem[], rule: Rule): Found => {
  const judged = items
    .filter(({ kind }) => kind === 'item')
    .map(({ id, title, section, content }) => ({ item: id, answer: rule({ item: content, title, section }) }))
  return {
    items: judged.flatMap(({ item, answer }) => (answer.kind === 'value' && answer.value === true ? [item] : [])),
    unclear: judged.flatMap(({ item, answer }) => {
      if (answer.kind === 'error') return [{ item, detail: answer.detail }]
      return typeof answer.value === 'boolean' ? [] : [{ item, detail: 'is neither true nor false' }]
    }),
  }
}
