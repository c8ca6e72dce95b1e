/** Plays that ask people: a question with and without a deadline, whose answer decides what is done. */
import { fn } from '../../../../src/executors/workflow/function.ts'
import { type Ending, type Errand, type Play, perform } from '../play.ts'

/** By kind: nobody is in a hurry; the system says yes at the deadline; the question lapses. */
const TIMES = [
  {},
  { deadline: '5s', autoActionOnTimeout: 'approve' },
  { deadline: '3s', autoActionOnTimeout: 'expire' },
] as const

/** What the run has taken for the answer. What the task says itself is check/people.ts. */
const heard = ({ facts }: Ending): string => {
  const answer = facts.findLast((fact) => fact.type === 'child.ended')
  if (answer?.type !== 'child.ended' || answer.end.kind !== 'done' || !('value' in answer.end.result)) return 'nothing'
  return (answer.end.result.value as { readonly decision: string }).decision
}

export const review: Play = {
  name: 'review',
  functions: (scene, edition) => [
    fn<Errand>('review', { trigger: 'go.review' }, async (context) => {
      const { step, input } = context
      if (edition === 2) await perform(scene, context, 'extra', 0)
      const { decision } = await step.human('ask', {
        assign: 'group:sim',
        actions: ['approve', 'reject', 'reassign'],
        ...TIMES[input.kind % TIMES.length],
      })
      return [decision, await perform(scene, context, 'act', 1)]
    }),
  ],
  cues: () => [],
  output: (ending) => [heard(ending), 1],
}
