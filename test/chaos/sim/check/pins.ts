/** run-5: code of another version than the one that a run began with continues it only after the fact that says so. */
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'

export const checkPins = (evidence: Evidence): readonly string[] => {
  const { look, world } = evidence
  const runs = new Map<string, LookedRun>(look.runs().map((run) => [run.id, run]))
  return world.executions.flatMap((execution) => {
    const run = runs.get(execution.run)
    if (run === undefined) return []
    const version = world.versionOf(execution.edition)
    return versionsBy(run, evidence, execution.tick).has(version)
      ? []
      : [`run-5: ${run.id} ${execution.step} was performed by version ${version}, to which it was never handed over`]
  })
}

/** The version that had the run first, and those to which it had been handed over by then. */
const versionsBy = (
  { id, facts, stream }: LookedRun,
  { witness }: Pick<Evidence, 'witness'>,
  tick: number,
): ReadonlySet<string> => {
  const handed = facts.flatMap((fact, seq) =>
    fact.type === 'run.handed_over' && witness.tickOf(id, seq) <= tick ? [fact.to] : [],
  )
  return new Set([witness.firstHolders.get(id) ?? stream.systemHash, ...handed])
}
