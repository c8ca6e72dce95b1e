/**
 * Tasks at the end of a schedule: each closes once, its decision acts once and is not lost, and none is open that no run waits for.
 *
 * Owns the consistency of tasks and their runs. V19, V24, uncertain-step-1, run-4, uncertain-2.
 */
import type { RunFact } from '#model/run/fact.ts'
import type { TaskFact } from '#model/task/fact.ts'
import type { Look, LookedRun, LookedTask } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'

const CLOSINGS: ReadonlySet<TaskFact['type']> = new Set(['task.decided', 'task.expired', 'task.withdrawn'])
const VERDICTS: Readonly<Record<string, string>> = { it_happened: 'happened', run_again: 'run_again', abort: 'abort' }

export const checkPeople = ({ look, client }: Evidence): readonly string[] => [
  ...look.tasks().flatMap((task) => judge(task, look)),
  ...unwarned(look, client),
]

/** uncertain-2: a person who runs a step again while its worker may still act has been warned. */
const unwarned = (look: Look, { hasty }: Evidence['client']): readonly string[] =>
  hasty.flatMap(({ task, run, step }) => {
    const decided = look
      .tasks()
      .find(({ id }) => id === task)
      ?.facts.find(({ type }) => type === 'task.decided')
    const isWarned = decided?.type === 'task.decided' && decided.acknowledged === true
    return isWarned ? [] : [`uncertain-2: ${step} of ${run} is run again without a warning while it is at work`]
  })

const judge = (task: LookedTask, look: Look): readonly string[] => {
  const { id, facts, state } = task
  if (state.kind === 'none') return [`V4: ${id} has no beginning`]
  const closings = facts.filter(({ type }) => CLOSINGS.has(type))
  const twice = closings.length > 1 ? [`V19: ${id} closes ${closings.length} times`] : []
  const { run: asker } = state.kind === 'open' ? state : state.task
  const run = look.runs().find((one) => one.id === asker)
  if (run === undefined) return [...twice, `V13: ${id} was asked by ${asker}, which is not there`]
  return [...twice, ...early(task), ...(state.kind === 'open' ? unwanted(task, run) : unheard(task, run))]
}

/** V24: a deadline is never early. */
const early = ({ id, facts }: LookedTask): readonly string[] => {
  const [first] = facts
  const deadline = first?.type === 'task.opened' ? first.deadlineAt : null
  const isEarly = facts.some(({ type, at }) => type === 'task.timed_out' && (deadline === null || at < deadline))
  return isEarly ? [`V24: ${id} is late before its deadline ${deadline}`] : []
}

const unwanted = ({ id }: LookedTask, { state }: LookedRun): readonly string[] =>
  state.kind === 'live' && state.tasks.includes(id as never) ? [] : [`run-4: ${id} is open, and nobody waits for it`]

const isOverFor = (fact: RunFact): boolean => fact.type === 'run.cancel_requested' || fact.type === 'run.quarantined'

/** A decision acts once. One that came too late, to a cancelled run, never acts. */
const unheard = ({ id, state, facts }: LookedTask, run: LookedRun): readonly string[] => {
  const decided = facts.find((fact) => fact.type === 'task.decided')
  if (decided?.type !== 'task.decided' || state.kind !== 'closed') return []
  const { step, spec } = state.task
  const acted = spec.origin === 'uncertain' ? wordsOn(run.facts, id, step) : run.facts.filter((fact) => isEnd(fact, id))
  const said = acted.map((fact) => answerIn(fact))
  const wanted = spec.origin === 'uncertain' ? VERDICTS[decided.action] : decided.action
  if (said.length === 1 && said[0] === wanted) return []
  const isOver = run.facts.some(isOverFor)
  if (said.length === 0 && isOver) return []
  return [`V19: ${id} was decided with ${decided.action}, and its run heard ${JSON.stringify(said)}`]
}

/** A step may be uncertain several times: a task's answer is what follows its own uncertainty and precedes the next one. */
const wordsOn = (facts: readonly RunFact[], task: string, step: string): readonly RunFact[] => {
  const isDoubt = (fact: RunFact): boolean => fact.type === 'step.uncertain' && fact.step === step
  const own = facts.findIndex((fact) => fact.type === 'step.uncertain' && fact.task === task)
  const after = facts.slice(own + 1)
  const next = after.findIndex(isDoubt)
  const until = next === -1 ? after : after.slice(0, next)
  return until.filter((fact) => fact.type === 'step.resolved' && fact.step === step)
}

const isEnd = (fact: RunFact, task: string): boolean =>
  fact.type === 'child.ended' && fact.child === task && fact.end.kind === 'done'

const answerIn = (fact: RunFact): string | undefined => {
  if (fact.type === 'step.resolved') return fact.verdict
  if (fact.type !== 'child.ended' || fact.end.kind !== 'done' || !('value' in fact.end.result)) return undefined
  return (fact.end.result.value as { readonly decision: string }).decision
}
