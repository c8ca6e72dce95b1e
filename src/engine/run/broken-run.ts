/**
 * Quarantines a run whose stored facts do not fit their seals, with the reason. None of its facts is used.
 *
 * Owns that end. Nothing is decided here, because there is no state to decide on: the facts cannot be trusted. A person who has restored
 * them retries the run.
 *
 * broken-run-1  A run with a broken fact is never entered: it ends as `quarantined`, those that wait for it are notified, and other runs go on.
 */
import { headOf, sealFacts } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { StreamRecord } from '#ports/ledger.ts'

/** A run that cannot be written now is released, and found again at its next claim. */
export const quarantineBroken = (
  records: readonly StreamRecord[],
  contextOf: (tenant: TenantId) => EngineContext,
  letGo: (run: RunId) => void,
): void => {
  for (const record of records) quarantine(contextOf(record.tenant), record).catch(() => letGo(record.stream as RunId))
}

/** A conflict means that another process has taken the run since: it meets the same facts. */
const quarantine = async (context: EngineContext, record: StreamRecord): Promise<void> => {
  const run = record.stream as RunId
  const head = headOf(record)
  const fact: RunFact = {
    type: 'run.quarantined',
    at: Math.max(context.clock.now(), head.lastAt),
    error: { code: 'FACT_BROKEN', message: record.broken ?? 'its facts cannot be verified' },
  }
  const sealed = sealFacts(context, run, head, [fact])
  const outcome = await commitOnce(context.commit, {
    appendId: context.appendId(),
    writes: [
      {
        ...{ stream: run, create: null, expectedVersion: record.version, epoch: record.epoch },
        ...{ facts: sealed.facts, headHash: sealed.head.headHash, status: 'quarantined', wakeAt: null },
        ...{ release: true, seenSignal: record.signal, opensWaits: [], closesWaits: [] },
      },
    ],
    events: [],
    signals: record.parent === null ? [] : [record.parent],
    documents: [],
  })
  if (outcome.kind === 'conflict') return
  const { handler } = record
  context.publish.tell({ run, handler, status: 'quarantined', version: sealed.head.version, facts: [fact] })
  context.worker.signal(outcome.signalled)
}
