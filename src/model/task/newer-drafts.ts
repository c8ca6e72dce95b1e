/**
 * Drafts that their author saved elsewhere: in another tab, on another device. A person sees one set of drafts of a task, wherever they look.
 *
 * Owns the draft revision (how many drafts of a task a person has saved) and both refusals that are based on it. A draft decides nothing; but a
 * person's decision never ignores what the same person wrote and has not seen. Drafts of an earlier revision of the task are stale and do not
 * matter.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import { type Outcome, outcomeOf } from './choice.ts'
import type { ItemChoice, OpenTask, Submit, TaskCommand, TaskDraft, TaskItem } from './fact.ts'
import { contentIn } from './mark.ts'
import type { TaskAction } from './spec.ts'

type Drafts = Pick<OpenTask, 'drafts' | 'revision'>

/** Returns how many drafts of this task the person has saved. A decision names the draft revision that its author has seen. */
export const draftRevision = ({ drafts }: Pick<OpenTask, 'drafts'>, by: string): number =>
  drafts.reduce((newest, draft) => (draft.by === by ? Math.max(newest, draft.saved ?? 0) : newest), 0)

/** Returns the drafts that this person saved after the revision they saw. Null: they have seen none. */
const unseen = ({ drafts, revision }: Drafts, by: string, seen: number | null): readonly TaskDraft[] =>
  drafts.filter((draft) => draft.by === by && draft.revision === revision && (draft.saved ?? 0) > (seen ?? -1))

const isSame = (one: Json, other: Json): boolean => canonical(one) === canonical(other)

interface Said {
  readonly item: TaskItem
  readonly choice: ItemChoice | undefined
  readonly outcome: Outcome
  readonly action: TaskAction
}

/**
 * Returns whether the decision does with this item what the draft says. A draft of another shape never agrees: only its author knows its meaning.
 */
const followsItem = (draft: TaskDraft, { item, choice, outcome, action }: Said): boolean => {
  const said = contentIn(draft)
  if (draft.content !== null && said.verdict === undefined && said.content === undefined) return false
  const { verdict, content = item.content } = said
  const after = choice?.modifications ?? item.content
  if (verdict === 'reject') return outcome.rejected.includes(item.id)
  // No mark, or a mark that was taken back: the action decides on the item.
  if (verdict !== 'approve' && isSame(content, item.content))
    return choice === undefined || (choice.status !== 'rejected' && isSame(after, item.content))
  const isApproved =
    item.kind === 'document' ? action.nextState !== 'rejected' && action.terminal : outcome.approved.includes(item.id)
  return isApproved && isSame(after, content)
}

/** Returns whether the fields that a person began to fill in are those of the submit. */
const followsWhole = ({ content }: TaskDraft, { fields }: Submit): boolean => {
  if (content === null) return true
  const begun =
    typeof content === 'object' && !Array.isArray(content) ? (content as { fields?: Json }).fields : undefined
  return begun !== undefined && isSame(begun, fields)
}

const follows = (task: OpenTask, action: TaskAction, submit: Submit): ((draft: TaskDraft) => boolean) => {
  const outcome = outcomeOf(task.items, action, submit.items)
  return (draft) => {
    if (draft.item === null) return followsWhole(draft, submit)
    const item = task.items.find(({ id }) => id === draft.item)
    if (item === undefined) return true
    const choice = Object.hasOwn(submit.items, item.id) ? submit.items[item.id] : undefined
    return followsItem(draft, { item, choice, outcome, action })
  }
}

const named = (drafts: readonly TaskDraft[]): string => drafts.map(({ item }) => item ?? 'the whole task').join(', ')

const newer = (task: OpenTask, by: string, drafts: readonly TaskDraft[]): Refusal =>
  refuse(
    'DRAFTS_NEWER',
    `${by} saved newer drafts of ${named(drafts)} elsewhere; the newest draft revision is ${draftRevision(task, by)}`,
  )

/** task-7. A decision that agrees with the drafts ignores none, whatever draft revision it names. */
export const unseenRefusal = (task: OpenTask, action: TaskAction, submit: Submit): Refusal | null => {
  const { by, draftsSeen } = submit
  const isFollowed = follows(task, action, submit)
  const left = unseen(task, by.id, draftsSeen).filter((draft) => !isFollowed(draft))
  return left.length === 0 ? null : newer(task, by.id, left)
}

/** A draft may replace one that its author has seen; without `draftsSeen` it may replace any. */
export const draftRefusal = (
  task: OpenTask,
  { by, item, content, draftsSeen = null }: Extract<TaskCommand, { readonly type: 'save_draft' }>,
): Refusal | null => {
  if (draftsSeen === null) return null
  const left = unseen(task, by.id, draftsSeen).filter((draft) => draft.item === item && !isSame(draft.content, content))
  return left.length === 0 ? null : newer(task, by.id, left)
}
