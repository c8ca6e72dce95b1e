/**
 * Applies a submit to the items: which are approved, which rejected, which changed.
 *
 * Owns the fan-out of one decision to its items, and every refusal that concerns a single item's choice.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import type { Edit, ItemChoice, OpenTask, Submit, TaskItem, Vote } from './fact.ts'
import type { Section, TaskAction } from './spec.ts'
import { hashOf } from './subject.ts'

export interface Outcome {
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
}

const invalid = (detail: string): Refusal => refuse('MODIFICATION_INVALID', detail)

const isMarked = ({ marksApproved }: TaskAction, { id, section }: TaskItem): boolean =>
  marksApproved === null || marksApproved.includes(id) || marksApproved.includes(section)

const choiceOf = (items: Submit['items'], id: string): ItemChoice | undefined =>
  Object.hasOwn(items, id) ? items[id] : undefined

/** Fail closed: an item that is neither approved nor rejected is not approved. */
export const outcomeOf = (items: readonly TaskItem[], action: TaskAction, choices: Submit['items']): Outcome => {
  const reviewed = items.filter(({ kind }) => kind === 'item')
  if (action.nextState === 'rejected') return { approved: [], rejected: reviewed.map(({ id }) => id) }
  const approved: string[] = []
  const rejected: string[] = []
  for (const item of reviewed) {
    const choice = choiceOf(choices, item.id)
    const isWanted = action.nextState === 'approved' || action.marksApproved !== null || choice !== undefined
    if (choice?.status === 'rejected') rejected.push(item.id)
    else if (isWanted && isMarked(action, item)) approved.push(item.id)
  }
  return { approved, rejected }
}

/** Combines the votes of several people: an item is approved only if each of them approved it. */
export const agreed = (votes: readonly Vote[]): Outcome => ({
  approved: (votes[0]?.approved ?? []).filter((id) => votes.every(({ approved }) => approved.includes(id))),
  rejected: [...new Set(votes.flatMap(({ rejected }) => rejected))],
})

const choiceProblem = (action: TaskAction, item: TaskItem, choice: ItemChoice): string | null => {
  const { status, modifications } = choice
  if (status === 'rejected' && item.kind === 'document') return `${item.id} is a document, not one of the items`
  if (status === 'rejected' && modifications !== undefined) return `${item.id} cannot be both rejected and changed`
  if (status === 'edited' && modifications === undefined) return `${item.id} is marked as edited but has no changes`
  if (action.nextState === 'rejected' && status !== 'rejected') return `${action.name} rejects every item`
  if (status !== 'rejected' && !isMarked(action, item)) return `${action.name} does not approve ${item.id}`
  return null
}

const editOf = (item: TaskItem, section: Section, after: Json, { world }: Submit): Edit | Refusal => {
  if (!section.editable) return invalid(`${item.id} is in section ${section.id}, which is not editable`)
  const problem = section.schema === null ? null : world.misfit(section.schema, after)
  if (problem !== null) return invalid(`${item.id}: ${problem}`)
  const hash = hashOf(after, world.digest)
  return { item: item.id, content: after, patch: world.diff(item.content, after), hash }
}

const isChange = (item: TaskItem, after: Json): boolean => canonical(item.content) !== canonical(after)

/** Returns the checked changes of a submit; a modification that changes nothing is left out. */
export const editsOf = (task: OpenTask, action: TaskAction, submit: Submit): readonly Edit[] | Refusal => {
  const edits: Edit[] = []
  for (const [id, choice] of Object.entries(submit.items)) {
    const item = task.items.find((entry) => entry.id === id)
    const section = task.spec.sections.find((entry) => entry.id === item?.section)
    if (item === undefined || section === undefined) return invalid(`the task has no item ${id}`)
    if (!action.terminal) return invalid(`${action.name} leaves the task open, so it cannot decide items`)
    const problem = choiceProblem(action, item, choice)
    if (problem !== null) return invalid(problem)
    if (choice.modifications === undefined || !isChange(item, choice.modifications)) continue
    const edit = editOf(item, section, choice.modifications, submit)
    if ('kind' in edit) return edit
    edits.push(edit)
  }
  if (action.name === 'edit' && edits.length === 0) return invalid('edit needs at least one change')
  return edits
}
