/**
 * The history of a task, as people read it: asked, seen, reminded, reassigned, voted, decided.
 *
 * Owns which facts are listed and in which words. Drafts are private to their author, and checkpoints concern no one: neither is listed.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { TaskFact } from './fact.ts'
import type { Assignees } from './spec.ts'

export interface TaskHappening {
  readonly at: Instant
  /** `viewed`, `reminded`, `voted` and so on: the fact's type without its noun. */
  readonly what: string
  /** Null: a deadline, or the run. */
  readonly by: string | null
  readonly text: string
  /** The items that it is about; empty: the whole task. */
  readonly items: readonly string[]
}

const peopleOf = ({ users, groups }: Assignees): string => [...users, ...groups].join(', ')

const because = (reason: string | null): string => (reason === null || reason === '' ? '' : `: ${reason}`)

/** Null: not listed. */
const textOf = (fact: TaskFact): string | null => {
  switch (fact.type) {
    case 'task.opened':
      return `asked ${peopleOf(fact.spec.levels[0]?.to ?? { users: [], groups: [] })}`
    case 'task.viewed':
      return fact.first ? 'has seen it' : null
    case 'task.claimed':
      return 'claimed it'
    case 'task.unclaimed':
      return 'gave it back'
    case 'task.reassigned':
      return `handed it to ${peopleOf(fact.to)}${because(fact.reason)}`
    case 'task.escalated':
      return `escalated it to ${peopleOf(fact.to)}${because(fact.reason)}`
    case 'task.reminded':
      return `reminder ${fact.n}`
    case 'task.timed_out':
      return 'the deadline has passed'
    case 'task.edited':
      return `edited ${fact.edits.map(({ item }) => item).join(', ')}`
    case 'task.voted':
      return `voted ${fact.action}${because(fact.reason)}`
    case 'task.acted':
    case 'task.revision_requested':
      return `${fact.action}${because(fact.reason)}`
    case 'task.revised':
      return `revision ${fact.revision} was brought`
    case 'task.decided':
      return `${fact.action}${because(fact.reason)}`
    case 'task.expired':
      return 'the task expired without a decision'
    case 'task.withdrawn':
      return `withdrawn${because(fact.reason)}`
    case 'task.draft_saved':
    case 'task.follow_up_set':
    case 'task.checkpointed':
      return null
  }
}

/** Oldest first. */
export const taskHistory = (facts: readonly TaskFact[]): readonly TaskHappening[] =>
  facts.flatMap((fact) => {
    const text = textOf(fact)
    if (text === null) return []
    const items = fact.type === 'task.edited' ? fact.edits.map(({ item }) => item) : []
    return [{ at: fact.at, what: fact.type.replace('task.', ''), by: 'by' in fact ? fact.by : null, text, items }]
  })
