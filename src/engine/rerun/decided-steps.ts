/**
 * Which results of a run came from people.
 *
 * Owns the search: a step that asked them, a step that received the event of a decision, a step that called a run with one of these, and a step that was taken over from a run
 * where it was one of these. Reads facts alone.
 *
 * decided-steps-1  No way in which a decision can stand behind the result of a step is missed: a run that cannot be read counts as decided.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { tellsDecision } from '#model/access/human-only.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isRunId, isTaskId, type RunId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { StreamRecord } from '#ports/ledger.ts'

const PAGE = 200

type World = Pick<EngineContext, 'ledger' | 'tenant' | 'system'>

/** Steps of one run that people decided, and steps whose answer stands in other runs. */
interface Looked {
  readonly decided: Set<string>
  /** By run: the steps here that have their result from it, and the step there; null: from the run as a whole. */
  readonly elsewhere: Map<RunId, { readonly step: string; readonly there: string | null }[]>
}

const lookAt = ({ events }: ReturnType<EngineContext['system']>, facts: readonly RunFact[]): Looked => {
  const looked: Looked = { decided: new Set(), elsewhere: new Map() }
  const follow = (run: RunId, step: string, there: string | null): void => {
    looked.elsewhere.set(run, [...(looked.elsewhere.get(run) ?? []), { step, there }])
  }
  for (const fact of facts) {
    if (fact.type === 'step.reused') follow(fact.of, fact.step, fact.step)
    if (fact.type === 'wait.received')
      for (const { type } of [fact.event, ...(fact.others ?? [])])
        if (tellsDecision(type, events.get(type)?.only ?? null)) looked.decided.add(fact.step)
    if (fact.type !== 'child.started') continue
    if (isTaskId(fact.child)) looked.decided.add(fact.step)
    else if (isRunId(fact.child)) follow(fact.child, fact.step, null)
  }
  return looked
}

type Known = Map<RunId, ReadonlySet<string> | null>

/** Null: the run cannot be read. */
const search = async (context: World, runs: readonly RunId[], known: Known): Promise<void> => {
  const unknown = runs.filter((run) => !known.has(run))
  for (let at = 0; at < unknown.length; at += PAGE) {
    const page = unknown.slice(at, at + PAGE)
    const records = await context.ledger.load(page)
    for (const [index, run] of page.entries()) await readOne(context, run, records[index] ?? null, known)
  }
}

const readOne = async (context: World, run: RunId, record: StreamRecord | null, known: Known): Promise<void> => {
  if (record === null || record.tenant !== context.tenant || record.broken !== undefined) {
    known.set(run, null)
    return
  }
  known.set(run, await decidedIn(context, record.facts.map(readRunFact), known))
}

const decidedIn = async (context: World, facts: readonly RunFact[], known: Known): Promise<ReadonlySet<string>> => {
  const { decided, elsewhere } = lookAt(context.system(), facts)
  await search(context, [...elsewhere.keys()], known)
  for (const [run, steps] of elsewhere) {
    const there = known.get(run) ?? null
    for (const { step, there: name } of steps)
      if (there === null || (name === null ? there.size > 0 : there.has(name))) decided.add(step)
  }
  return decided
}

export const decidedSteps = (context: World, facts: readonly RunFact[]): Promise<ReadonlySet<string>> =>
  decidedIn(context, facts, new Map())
