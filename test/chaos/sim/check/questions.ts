/**
 * No question without a crash: people are asked about a lost attempt only if its worker was lost, and not because the worker gave the run
 * back with the result still in its hands.
 */
import type { WorkerId } from '../../../../src/model/ids.ts'
import type { RunFact } from '../../../../src/model/run-fact.ts'
import type { LookedRun } from '../look.ts'
import type { Evidence } from './evidence.ts'

export const checkQuestions = ({ look, witness, hasLostWorker }: Evidence): readonly string[] =>
  hasLostWorker ? [] : look.runs().flatMap((run) => needless(run, witness))

const isLoss = (fact: RunFact): fact is RunFact & { readonly type: 'step.uncertain' } =>
  fact.type === 'step.uncertain' && fact.reason.startsWith('the worker was lost')

/** A retry begins a new life, in which what the life before left open is asked about. */
const needless = ({ id, facts }: LookedRun, { givenBack, silent }: Evidence['witness']): readonly string[] => {
  const performers = new Map<string, { readonly worker: WorkerId; readonly epoch: number }>()
  const found: string[] = []
  for (const fact of facts) {
    if (fact.type === 'run.retried') performers.clear()
    if (fact.type === 'step.intended' && fact.performer !== undefined) performers.set(fact.step, fact.performer)
    if (!isLoss(fact)) continue
    const performer = performers.get(fact.step)
    if (performer !== undefined && givenBack.has(`${id} ${performer.epoch}`) && !silent.has(performer.worker))
      found.push(`session-writes-2: people are asked about ${fact.step} of ${id}, whose worker was not lost`)
  }
  return found
}
