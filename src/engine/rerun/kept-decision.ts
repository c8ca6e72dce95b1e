/**
 * Finds what people decided in the run that a rerun repeats, for a step that would ask them the same.
 *
 * Owns when an old decision counts again: only if the rerun was requested with decisions, and only for a question that is exactly the
 * same. Otherwise people are asked.
 *
 * kept-decision-1  A decision counts again only for the very content that was first shown with it.
 * kept-decision-2  A decision whose question came after the first step that is done again is dropped, whatever the rerun asked for.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { readRunFact, readTaskFact } from '#model/kernel/fact-codec.ts'
import { isTaskId, type RunId, type TaskId } from '#model/kernel/ids.ts'
import type { ReusedStep, RunFact } from '#model/run/fact.ts'
import { cameBefore } from '#model/run/rerun.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import { itemsOf, subjectText } from '#model/task/subject.ts'

type Answered = Pick<ReusedStep, 'of' | 'seq' | 'settled'> & { readonly task: TaskId }

const factsOf = async ({ ledger, tenant }: EngineContext, run: RunId): Promise<readonly RunFact[]> => {
  const [record] = await ledger.load([run])
  return record == null || record.tenant !== tenant ? [] : record.facts.map(readRunFact)
}

/** The answer as the run that asked has recorded it. */
const answerIn = (facts: readonly RunFact[], of: RunId, step: string): Answered | null => {
  const seq = facts.findLastIndex((fact) => fact.type === 'child.ended' && fact.step === step)
  const fact = facts[seq]
  if (fact?.type !== 'child.ended' || fact.end.kind !== 'done' || !isTaskId(fact.child)) return null
  return { of, seq, settled: { kind: 'done', result: fact.end.result }, task: fact.child }
}

/** kept-decision-1. The hash includes the run that asked, so it is computed as if that run asked now. */
const wasAskedSo = async (
  { ledger, taskWorld }: EngineContext,
  { task, of }: Answered,
  step: string,
  spec: TaskSpec,
): Promise<boolean> => {
  const [record] = await ledger.load([task])
  const first = record?.facts[0]
  const opened = first === undefined ? null : readTaskFact(first)
  const items = itemsOf(spec.sections, taskWorld.digest)
  return opened?.type === 'task.opened' && opened.hash === taskWorld.digest(subjectText({ run: of, step, spec, items }))
}

/** Null: people are asked. */
export const keptDecision = async (
  { context, live }: ActiveRun,
  step: string,
  spec: TaskSpec,
): Promise<ReusedStep | null> => {
  const rerun = live?.start.rerun
  if (rerun?.decisions !== true || rerun.from === null) return null
  const facts = await factsOf(context, rerun.of)
  // kept-decision-2
  const answered = cameBefore(facts, step, rerun.from) ? answerIn(facts, rerun.of, step) : null
  if (answered === null || !(await wasAskedSo(context, answered, step, spec))) return null
  const { of, seq, settled } = answered
  return { step, of, seq, settled }
}
