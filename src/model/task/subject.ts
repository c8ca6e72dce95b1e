/**
 * The subject of a decision: the canonical bytes that people see and consent to, item by item and as a whole.
 *
 * Owns which parts of a task are hashed. Never hashes: the digest is an argument. The agent's own remarks are not part of it.
 */
import { isPlainText, type RunId } from '#model/kernel/ids.ts'
import { canonical, isForbiddenKey, type Json } from '#model/kernel/json.ts'
import type { Edit, TaskItem } from './fact.ts'
import { MAX_ITEMS, type Section, type TaskSpec } from './spec.ts'

type Digest = (text: string) => string

export const hashOf = (content: Json, digest: Digest): string => digest(canonical(content))

/** An editable section is one document under the section's own id. */
export const itemsOf = (sections: readonly Section[], digest: Digest): readonly TaskItem[] =>
  sections.flatMap<TaskItem>(({ id: section, type, title, content, items }) => {
    const born = { section, status: 'pending_review' as const }
    if (type === 'editable')
      return [{ ...born, id: section, kind: 'document' as const, title, content, hash: hashOf(content, digest) }]
    return items.map((item) => ({ ...born, ...item, kind: 'item' as const, hash: hashOf(item.content, digest) }))
  })

const MAX_ID_LENGTH = 128
/** Ids become keys of objects. */
const isUsableId = (id: string): boolean => isPlainText(id, MAX_ID_LENGTH) && !isForbiddenKey(id)

/** Returns what is wrong with sections from a run; null: nothing. */
export const sectionsProblem = (sections: readonly Section[]): string | null => {
  const ids = sections.flatMap(({ id, type, items }) => (type === 'editable' ? [id] : items.map((item) => item.id)))
  if (ids.length > MAX_ITEMS) return `the task has ${ids.length} items; at most ${MAX_ITEMS} are allowed`
  const bad = ids.find((id) => !isUsableId(id))
  if (bad !== undefined) return `${JSON.stringify(bad.slice(0, MAX_ID_LENGTH))} is not a valid item id`
  const twin = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twin !== undefined) return `two items have the id ${twin}`
  const sectionIds = sections.map(({ id }) => id)
  const double = sectionIds.find((id, i) => sectionIds.indexOf(id) !== i)
  return double === undefined ? null : `two sections have the id ${double}`
}

/** The content that is decided, and its step: content that is asked for twice is consented to twice. */
export interface Subject {
  readonly run: RunId
  readonly step: string
  readonly spec: TaskSpec
  readonly items: readonly TaskItem[]
}

/** The content of an item appears once, as it is now: the page renders from this text. */
export const subjectText = ({ run, step, spec, items }: Subject): string => {
  const { type, name, title, instructions, context, sections, actions } = spec
  return canonical({
    run,
    step,
    type,
    name,
    title,
    instructions,
    context,
    sections: sections.map((section) => ({
      id: section.id,
      type: section.type,
      title: section.title,
      content: section.type === 'editable' ? null : section.content,
    })),
    items: items.map(({ id, section, title: heading, content }) => ({ id, section, title: heading, content })),
    actions: actions.map((action) => ({ ...action })),
  })
}

export const applyEdits = (items: readonly TaskItem[], edits: readonly Edit[]): readonly TaskItem[] => {
  const byItem = new Map(edits.map((edit) => [edit.item, edit]))
  return items.map((item) => {
    const edit = byItem.get(item.id)
    return edit === undefined ? item : { ...item, content: edit.content, hash: edit.hash, status: 'edited' }
  })
}
