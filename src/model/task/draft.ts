/**
 * A decision in progress: the facts so far and the task's state after them.
 *
 * Owns how one fact of a decision sees those before it. Local to one call of decide; never stored.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { OpenTask, TaskFact } from './fact.ts'
import { evolveTask } from './fold.ts'

export interface Draft {
  task: OpenTask
  isClosed: boolean
  readonly facts: TaskFact[]
  readonly now: Instant
}

export const draftOf = (task: OpenTask, now: Instant): Draft => ({ task, isClosed: false, facts: [], now })

export const record = (draft: Draft, fact: TaskFact): void => {
  draft.facts.push(fact)
  const next = evolveTask(draft.task, fact)
  if (next.kind === 'open') draft.task = next
  else draft.isClosed = true
}
