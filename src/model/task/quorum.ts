/**
 * The quorum of a task: how many people a vote takes, who may still vote, and whether the remaining votes can close it.
 *
 * A group counts as enough people: its members are known only when they act. Each person votes once on one subject.
 *
 * task-9  While a task waits for people, at least one person may vote: no vote, edit, revision or reassignment makes the quorum unreachable.
 */
import type { OpenTask } from './fact.ts'
import type { Assignees, ClosedByAction, Quorum, TaskAction, TaskSpec } from './spec.ts'

export const isClosing = (state: TaskAction['nextState']): state is ClosedByAction =>
  state === 'approved' || state === 'rejected' || state === 'completed'

export const quorumFor = (quorum: Quorum, outcome: ClosedByAction): number => {
  if (outcome === 'completed') return 1
  return outcome === 'approved' ? quorum.approve : quorum.reject
}

/**
 * Returns the smallest number of people whose votes always close the task. Two of two to approve and two to reject need three people: with two,
 * one vote each way would leave no one to vote.
 */
export const votersNeeded = ({ quorum, actions }: Pick<TaskSpec, 'quorum' | 'actions'>): number => {
  const outcomes = new Set(
    actions.flatMap(({ terminal, nextState }) => (terminal && isClosing(nextState) ? nextState : [])),
  )
  return [...outcomes].reduce((sum, outcome) => sum + quorumFor(quorum, outcome) - 1, 1)
}

/** Returns how many of these people may vote, including those who have voted; null: a group is among them, so there is no bound. */
export const votersAmong = (
  { users, groups }: Assignees,
  { excluded, voted = [] }: { readonly excluded: readonly string[]; readonly voted?: readonly string[] },
): number | null => {
  if (groups.length > 0) return null
  return new Set([...users.filter((user) => !excluded.includes(user)), ...voted]).size
}

/** Returns whether these people are enough for the quorum, whatever each of them votes. */
export const isInReach = (
  spec: Pick<TaskSpec, 'quorum' | 'actions' | 'excluded'>,
  to: Assignees,
  voted: readonly string[] = [],
): boolean => (votersAmong(to, { excluded: spec.excluded, voted }) ?? Number.POSITIVE_INFINITY) >= votersNeeded(spec)

const union = (one: readonly string[], other: readonly string[]): readonly string[] => [...new Set([...one, ...other])]

/** The subject has changed and no vote counts any more: people who voted before a reassignment may vote again (task-9). */
export const withoutVotes = (task: OpenTask): Pick<OpenTask, 'votes' | 'asked' | 'deciders'> => {
  const { asked, deciders, votes, reassigned } = task
  const back = reassigned === 0 ? [] : votes.map(({ by }) => by)
  const again = (to: Assignees): Assignees => ({ ...to, users: union(to.users, back) })
  return { votes: [], asked: again(asked), deciders: again(deciders) }
}

export interface Voters extends Assignees {
  /** Members of the groups who may not vote: they are excluded, or have voted. */
  readonly except: readonly string[]
}

/** Returns who may vote now. While a revision is awaited there is nothing to vote on. */
export const votersOf = ({ status, deciders, votes, spec }: OpenTask): Voters => {
  if (status === 'revision_requested') return { users: [], groups: [], except: [] }
  const except = union(
    spec.excluded,
    votes.map(({ by }) => by),
  )
  return { users: deciders.users.filter((user) => !except.includes(user)), groups: deciders.groups, except }
}
