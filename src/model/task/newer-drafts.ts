/**
 * Drafts that their author saved elsewhere: in another tab, on another device. A person has one truth about a task, wherever they look.
 *
 * Owns the draft revision (how many drafts of a task a person has saved) and both refusals that rest on it. A draft decides nothing; what a
 * person wrote is only never passed over behind their back. Drafts of an earlier revision of the task are stale and bind nobody.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import { type Outcome, outcomeOf } from './choice.ts'
import type { ItemChoice, OpenTask, Submit, TaskCommand, TaskDraft, TaskItem } from './fact.ts'
import { contentIn } from './mark.ts'
import type { TaskAction } from './spec.ts'

type Drafts = Pick<OpenTask, 'drafts' | 'revision'>

/** How many drafts of this task the person has saved. A decision names the one it has seen. */
export const draftRevision = ({ drafts }: Pick<OpenTask, 'drafts'>, by: string): number =>
  drafts.reduce((newest, draft) => (draft.by === by ? Math.max(newest, draft.saved ?? 0) : newest), 0)

/** Drafts of this person that were saved after what they saw. Whoever says nothing has seen none. */
const unseen = ({ drafts, revision }: Drafts, by: string, seen: number | null): readonly TaskDraft[] =>
  drafts.filter((draft) => draft.by === by && draft.revision === revision && (draft.saved ?? 0) > (seen ?? -1))

const isSame = (one: Json, other: Json): boolean => canonical(one) === canonical(other)

interface Said {
  readonly item: TaskItem
  readonly choice: ItemChoice | undefined
  readonly outcome: Outcome
  readonly action: TaskAction
}

/** The decision does with this item what the draft says of it. What a draft of another shape says, only its author knows. */
const followsItem = (draft: TaskDraft, { item, choice, outcome, action }: Said): boolean => {
  const said = contentIn(draft)
  if (draft.content !== null && said.verdict === undefined && said.content === undefined) return false
  const { verdict, content = item.content } = said
  const after = choice?.modifications ?? item.content
  if (verdict === 'reject') return outcome.rejected.includes(item.id)
  // Nothing said, or an earlier word taken back: the item goes by the action.
  if (verdict !== 'approve' && isSame(content, item.content))
    return choice === undefined || (choice.status !== 'rejected' && isSame(after, item.content))
  const isApproved =
    item.kind === 'document' ? action.nextState !== 'rejected' && action.terminal : outcome.approved.includes(item.id)
  return isApproved && isSame(after, content)
}

/** What a person began to fill in is the answer itself. */
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
    `${by} saved newer drafts elsewhere, of ${named(drafts)}: draft revision ${draftRevision(task, by)} is the newest`,
  )

/** task-7. A decision that says the same as the drafts passes over nothing, whatever it has seen. */
export const unseenRefusal = (task: OpenTask, action: TaskAction, submit: Submit): Refusal | null => {
  const { by, draftsSeen } = submit
  const isFollowed = follows(task, action, submit)
  const left = unseen(task, by.id, draftsSeen).filter((draft) => !isFollowed(draft))
  return left.length === 0 ? null : newer(task, by.id, left)
}

/** A draft takes the place of one that its author has seen, or says that it takes the place of any. */
export const draftRefusal = (
  task: OpenTask,
  { by, item, content, draftsSeen = null }: Extract<TaskCommand, { readonly type: 'save_draft' }>,
): Refusal | null => {
  if (draftsSeen === null) return null
  const left = unseen(task, by.id, draftsSeen).filter((draft) => draft.item === item && !isSame(draft.content, content))
  return left.length === 0 ? null : newer(task, by.id, left)
}
