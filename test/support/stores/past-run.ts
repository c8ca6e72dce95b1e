/** Writes a completed run: its facts are sealed like the engine's and written through the ledger, for pages that show days of history. */
import { SystemIds } from '#adapters/system/ids.ts'
import { EMPTY_CHAIN, sealFacts } from '#engine/core/chain.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { createRedaction } from '#model/kernel/redaction.ts'
import type { RunFact, RunStart } from '#model/run/fact.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Ledger } from '#ports/ledger.ts'
import { aCreation, anAppend, newRun } from '#testing/ledger/builders.ts'

export interface PastRun {
  readonly handler: string
  readonly status: RunStatus
  readonly facts: readonly RunFact[]
}

/** Its first fact: a call without input. */
export const aStart = (handler: string, at: Instant): RunFact & RunStart => ({
  ...{ type: 'run.started', at, handler, input: { kind: 'given', payload: { value: null } }, cause: null },
  ...{ parentStep: null, depth: 0, deadlineAt: null, startBy: null },
})

export const writePastRun = async (ledger: Ledger, { handler, status, facts }: PastRun): Promise<RunId> => {
  const run = newRun()
  const sealed = sealFacts({ ids: new SystemIds(), redaction: createRedaction([]) }, run, EMPTY_CHAIN, facts)
  const write = { facts: sealed.facts, headHash: sealed.head.headHash, status, wakeAt: null }
  await ledger.append([anAppend({ writes: [aCreation(run, { handler, createdAt: facts[0]?.at ?? 0 }, write)] })])
  return run
}
