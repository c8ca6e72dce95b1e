/** Quorums that stay reachable, whatever people do to a task. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { OpenTask, TaskCommand, TaskFact, TaskState } from '#model/task/fact.ts'
import { votersOf } from '#model/task/quorum.ts'
import { task } from '#model/task/task.ts'
import { plantMethod } from '#test/chaos/sim/mutants/mutant.ts'
import { anyTurns } from '#test/support/stories/task-arbitrary.ts'
import { CASES, proof } from './proof.ts'

type Decide = (state: TaskState, command: TaskCommand) => ReturnType<typeof task.decide>
type Evolve = (state: TaskState, fact: TaskFact) => TaskState

const CHANGES: ReadonlySet<TaskFact['type']> = new Set(['task.edited', 'task.revised'])

/** The people who can have voted in the end; groups have enough members. */
const peopleOf = ({ deciders, votes, spec }: OpenTask): number => {
  if (deciders.groups.length > 0) return Number.POSITIVE_INFINITY
  const users = deciders.users.filter((user) => !spec.excluded.includes(user))
  return new Set([...users, ...votes.map(({ by }) => by)]).size
}

/** The smallest number of equal votes that any result needs. */
const wanted = ({ spec: { actions, quorum } }: OpenTask): number =>
  Math.max(
    0,
    ...actions.flatMap(({ terminal, nextState }) => {
      if (!terminal) return []
      return nextState === 'approved' ? quorum.approve : nextState === 'rejected' ? quorum.reject : []
    }),
  )

const ONE = { approve: 1, reject: 1 }

export const quorums = proof({
  name: 'task-9: while a task waits for people, somebody may vote (14.4.5)',
  rules: {},
  prove: () =>
    fc.assert(
      fc.property(anyTurns, (turns) => {
        for (const { after, facts } of turns) {
          if (after.kind !== 'open' || after.status === 'revision_requested') continue
          const { users, groups } = votersOf(after)
          expect(users.length + groups.length).toBeGreaterThan(0)
          expect(peopleOf(after)).toBeGreaterThanOrEqual(wanted(after))
          // A vote is on what was shown: an edit or a revision shows something else.
          if (facts.some(({ type }) => CHANGES.has(type)) && !facts.some(({ type }) => type === 'task.voted'))
            expect(after.votes).toEqual([])
        }
      }),
      { ...CASES, numRuns: 1_500 },
    ),
  mutants: [
    {
      name: 'a task is handed on to fewer people than its quorum takes (14.4.5)',
      plant: () =>
        plantMethod<Decide>(
          task,
          'decide',
          (decide) => (state, command) =>
            decide(
              state.kind === 'open' && command.type === 'decide_task' && command.action === 'reassign'
                ? { ...state, spec: { ...state.spec, quorum: ONE } }
                : state,
              command,
            ),
        ),
    },
    {
      name: 'a vote on what was edited since counts on, and its voter may not vote again (14.4.5)',
      plant: () =>
        plantMethod<Evolve>(task, 'evolve', (evolve) => (state, fact) => {
          const after = evolve(state, fact)
          return CHANGES.has(fact.type) && state.kind === 'open' && after.kind === 'open'
            ? { ...after, votes: state.votes, deciders: state.deciders }
            : after
        }),
    },
  ],
})
