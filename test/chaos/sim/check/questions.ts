/**
 * No question without a crash: people are asked about a lost attempt only if its worker was away while the attempt was open: dead, about to
 * stop, asleep or silent for longer than a lease. Other crashes of the same schedule are no reason.
 */
import type { RunFact } from '#model/run/fact.ts'
import type { LookedRun } from '#test/chaos/sim/look.ts'
import type { Evidence } from './evidence.ts'

export const checkQuestions = (evidence: Evidence): readonly string[] =>
  evidence.look.runs().flatMap((run) => needless(run, evidence))

const isLoss = (fact: RunFact): fact is RunFact & { readonly type: 'step.uncertain' } =>
  fact.type === 'step.uncertain' && fact.reason.startsWith('the worker was lost')

/** A retry begins a new life, in which attempts left open by the previous life are asked about. */
const needless = ({ id, facts }: LookedRun, { witness, absences }: Evidence): readonly string[] => {
  const attempts = new Map<string, { readonly worker: string; readonly tick: number }>()
  return facts.flatMap((fact, seq) => {
    if (fact.type === 'run.retried') attempts.clear()
    if (fact.type === 'step.intended' && fact.performer !== undefined)
      attempts.set(fact.step, { worker: fact.performer.worker, tick: witness.tickOf(id, seq) })
    const attempt = isLoss(fact) ? attempts.get(fact.step) : undefined
    if (attempt === undefined || !isLoss(fact)) return []
    const askedAt = witness.tickOf(id, seq)
    const wasAway = absences.some(
      ({ worker, from, to }) => worker === witness.ownerOf.get(attempt.worker) && from <= askedAt && to >= attempt.tick,
    )
    return wasAway ? [] : [`session-writes-2: people are asked about ${fact.step} of ${id}, whose worker was not lost`]
  })
}
