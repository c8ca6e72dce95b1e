/** V9, V10, V11, R4, R12: compares what the world saw with what the facts say. */
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Execution } from '#test/chaos/sim/world.ts'
import type { Evidence } from './evidence.ts'

export const checkEffects = ({ look, world }: Evidence): readonly string[] => {
  const runs = new Map<string, LookedRun>(look.runs().map((run) => [run.id, run]))
  const steps = new Map<string, Execution[]>()
  for (const execution of world.executions) {
    const address = `${execution.run} ${execution.step}`
    steps.set(address, [...(steps.get(address) ?? []), execution])
  }
  const keys = new Map<string, string>()
  return [...steps].flatMap(([address, executions]) => {
    const run = runs.get(executions[0]?.run ?? '')
    return run === undefined
      ? [`${address} was performed for a run that does not exist`]
      : [...keyOf(address, executions, keys), ...judge(run, executions)]
  })
}

const keyOf = (address: string, executions: readonly Execution[], keys: Map<string, string>): readonly string[] => {
  const [first, ...more] = new Set(executions.map(({ effectKey }) => effectKey))
  if (first === undefined || more.length > 0) return [`V11: ${address} had ${more.length + 1} effect keys`]
  const owner = keys.get(first) ?? address
  keys.set(first, address)
  return owner === address ? [] : [`V11: ${address} and ${owner} share an effect key`]
}

/** How often a `once` step may have happened: once, and again for each decision of a person, on the step or on the whole run. */
const permissions = ({ facts }: LookedRun, step: string): number => {
  let wanted = 1
  let hasFailed = false
  for (const fact of facts) {
    if (fact.type === 'run.retried' && hasFailed) wanted++
    if (fact.type === 'run.retried') hasFailed = false
    if (!('step' in fact) || fact.step !== step) continue
    if (fact.type === 'step.failed') hasFailed = true
    if (fact.type === 'step.resolved' && fact.verdict === 'run_again') wanted++
  }
  return wanted
}

/** uncertain-1: a question comes after the end of the attempt, or after the lease and the timeout. */
const askedEarly = ({ id, facts }: LookedRun, step: string): readonly string[] => {
  let askAt: number | null = null
  const early: string[] = []
  for (const fact of facts) {
    if (!('step' in fact) || fact.step !== step) continue
    if (fact.type === 'step.intended') askAt = fact.performer?.askAt ?? null
    if (fact.type === 'step.late_result') askAt = null
    const isLost = fact.type === 'step.uncertain' && fact.reason.startsWith('the worker was lost')
    if (isLost && askAt !== null && fact.at < askAt)
      early.push(`uncertain-1: people were asked about ${step} of ${id} ${askAt - fact.at} ms too early`)
  }
  return early
}

const judge = (run: LookedRun, executions: readonly Execution[]): readonly string[] => {
  const { step, effect } = executions[0] as Execution
  const facts = run.facts.flatMap((fact) => ('step' in fact && fact.step === step ? [fact] : []))
  const wrong: string[] = []
  if (effect === 'once') {
    const wanted = permissions(run, step)
    if (executions.length > wanted)
      wrong.push(`V10: ${run.id} ${step} happened ${executions.length} times, ${wanted} wanted`)
    if (!facts.some((fact) => fact.type === 'step.intended'))
      wrong.push(`V10: ${run.id} ${step} happened without an intent`)
    wrong.push(...askedEarly(run, step))
  }
  const scheduled = facts.flatMap((fact) => (fact.type === 'step.retry_scheduled' ? [fact] : []))
  for (const { attempt, at } of executions) {
    const delay = scheduled.findLast((fact) => fact.attempt === attempt - 1)
    if (attempt > 1 && delay === undefined) wrong.push(`V9: attempt ${attempt} of ${run.id} ${step} has no reason`)
    else if (
      delay !== undefined &&
      scheduled.filter((fact) => fact.attempt === attempt - 1).length === 1 &&
      at < delay.wakeAt - MAX_SKEW_MS
    ) {
      wrong.push(`V9: attempt ${attempt} of ${run.id} ${step} began ${delay.wakeAt - at} ms before its time`)
    }
  }
  return wrong
}

/** A step that was due by one worker's clock may begin on another whose clock is behind. */
const MAX_SKEW_MS = 800
