/**
 * A person's mark on an item before they submit: approve or reject, perhaps with new content. It is stored as a draft of that item.
 *
 * Owns the content of such a draft, and which drafts are saved when many items are marked at once. A mark decides nothing: only a submit does.
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

/** Returns the draft with this mark for the item; an edit of the same revision stays in it. Null: the item has this mark already. */
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

/** The roots that a rule may read about an item. */
export const MARK_ROOTS = ['item', 'title', 'section']

/** The result of a rule: the items for which it is true, and those for which it has no answer. */
export interface Found {
  readonly items: readonly string[]
  readonly unclear: readonly { readonly item: string; readonly detail: string }[]
}

/** Fail closed: an item for which the rule is neither true nor false is not marked. */
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
