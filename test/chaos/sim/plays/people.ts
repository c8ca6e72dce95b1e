/** Plays that ask people: a question with and without a deadline, whose answer decides what is done, in code and in a plan. */
import { fn } from '#executors/workflow/function.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import { type Ending, type Errand, type Play, perform } from '#test/chaos/sim/play.ts'

/** By kind: no deadline; the system approves at the deadline; the question expires. */
const TIMES = [
  {},
  { deadline: '5s', autoActionOnTimeout: 'approve' },
  { deadline: '3s', autoActionOnTimeout: 'expire' },
] as const

/** What the run took as the answer. What the task itself records is check/people.ts. */
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

/** A question; steps that require its approval, directly and further behind; and a step that is done whatever the answer is. */
const CONSENT: readonly PlanStepSource[] = [
  {
    id: 'ask',
    type: 'decision',
    humanConfig: {
      assign: 'group:sim',
      actions: ['approve', 'reject', 'reassign'],
      ...{ deadline: '4s', autoActionOnTimeout: 'expire' },
    },
  },
  { id: 'charge', assignedTo: 'deed', requires: ['ask'] },
  { id: 'ship', assignedTo: 'deed', requires: ['charge'] },
  { id: 'report', assignedTo: 'deed', requires: ['ask'], onReject: 'continue' },
]

const begun = ({ facts }: Ending): readonly string[] =>
  facts.flatMap((fact) => (fact.type === 'child.started' && fact.step !== 'ask' ? [fact.step] : []))

const statuses = ({ output }: Ending): readonly string[] => {
  const { steps } = output as { readonly steps: Readonly<Record<string, { readonly status: string }>> }
  return CONSENT.map(({ id = '' }) => `${id} ${steps[id]?.status}`)
}

const answerTo = (ending: Ending): string =>
  heard({ ...ending, facts: ending.facts.filter((fact) => fact.type !== 'child.ended' || fact.step === 'ask') })

const YES = ['ask success', 'charge success', 'ship success', 'report success']
const NO = ['ask rejected', 'charge skipped', 'ship skipped', 'report success']

/** plan-2, plan-4 */
export const consent: Play = {
  name: 'consent',
  functions: (scene, edition) => [
    fn('consent', { trigger: 'go.consent', plan: { approve: 'auto', steps: CONSENT } }),
    fn<Errand>('deed', {}, async (context) => {
      if (edition === 2) await perform(scene, context, 'extra', 0)
      await perform(scene, context, 'act', 1)
      return context.input.id
    }),
  ],
  cues: () => [],
  output: (ending) => {
    const isRight = answerTo(ending) === 'approve' && statuses(ending).join() === YES.join()
    return isRight ? ending.output : [answerTo(ending), ...YES]
  },
  mayEnd: (ending) =>
    ending.status === 'partial' &&
    answerTo(ending) !== 'approve' &&
    statuses(ending).join() === NO.join() &&
    begun(ending).join() === 'report',
}
