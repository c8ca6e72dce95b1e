/** A run that has been: its facts sealed as the engine does it, and written through the ledger. For pages that show what takes days. */

import { SystemIds } from '../../src/adapters/system/ids.ts'
import { EMPTY_CHAIN, sealFacts } from '../../src/engine/chain.ts'
import type { Instant, RunId } from '../../src/model/ids.ts'
import { createRedaction } from '../../src/model/redaction.ts'
import type { RunFact, RunStart } from '../../src/model/run-fact.ts'
import type { RunStatus } from '../../src/model/status.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import { aCreation, anAppend, newRun } from '../../src/testing/ledger/builders.ts'

export interface PastRun {
  readonly handler: string
  readonly status: RunStatus
  readonly facts: readonly RunFact[]
}

/** Its first fact: it was called with nothing. */
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
