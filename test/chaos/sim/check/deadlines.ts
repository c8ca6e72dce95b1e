/**
 * run-6, run-reopen-3: the instants by which a run must begin and end, in each of its lives.
 *
 * Owns its own computation of them: from the options at the start, and again with each retry.
 */
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'

export const checkDeadlines = (evidence: Evidence): readonly string[] =>
  evidence.look.runs().flatMap((run) => [...early(run), ...expiredAtWork(run, evidence)])

/** Neither deadline may act before its instant has come in the life that it ends. */
const early = ({ id, facts }: LookedRun): readonly string[] => {
  const [first] = facts
  if (first?.type !== 'run.started') return []
  const { at: startedAt, startBy, deadlineAt } = first
  let from = startedAt
  return facts.flatMap((fact) => {
    if (fact.type === 'run.retried') from = fact.at
    const moved = (instant: number | null): number =>
      instant === null ? Number.POSITIVE_INFINITY : from + instant - startedAt
    if (fact.type === 'run.expired' && fact.at < moved(startBy))
      return [`run-reopen-3: ${id} expires ${moved(startBy) - fact.at} ms before its start is overdue`]
    const isDeadline = fact.type === 'run.cancel_requested' && fact.error.code === 'RUN_DEADLINE'
    return isDeadline && fact.at < moved(deadlineAt)
      ? [`run-reopen-3: ${id} is ended ${moved(deadlineAt) - fact.at} ms before its deadline`]
      : []
  })
}

/** run-6: a run that has acted was entered, and the entry is in the ledger before the act. */
const expiredAtWork = ({ id, facts }: LookedRun, { world, witness }: Evidence): readonly string[] => {
  const seq = facts.findIndex(({ type }) => type === 'run.expired')
  if (seq === -1) return []
  const expiredAt = witness.tickOf(id, seq)
  return world.executions.some(({ run, tick }) => run === id && tick < expiredAt)
    ? [`run-6: ${id} has begun its work, and expired all the same`]
    : []
}
