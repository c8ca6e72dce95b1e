/**
 * Decides who may decide a task: people to whom it is addressed and who are not excluded. Agents and services never may.
 *
 * Owns the order of these refusals. Roles are checked outside; groups come with the identity.
 */
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import type { OpenTask } from './fact.ts'
import type { Assignees, Identity } from './spec.ts'

const isAddressed = ({ users, groups }: Assignees, { id, groups: own }: Identity): boolean =>
  users.includes(id) || groups.some((group) => own.includes(group))

/** Null: this identity may decide. */
export const forbid = ({ deciders, spec }: OpenTask, by: Identity): Refusal | null => {
  if (by.kind !== 'user') return refuse('AGENT_CANNOT_DECIDE', `${by.id} is of kind ${by.kind}; only a person decides`)
  if (!isAddressed(deciders, by)) return refuse('TASK_FORBIDDEN', `the task is not addressed to ${by.id}`)
  if (spec.excluded.includes(by.id))
    return refuse('SEPARATION_OF_DUTIES', `${by.id} took part in the work and may not decide it`)
  return null
}
