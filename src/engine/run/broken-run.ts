/**
 * A run whose stored facts do not fit their seals: it is taken out of work, with the reason, and nothing of it is used.
 *
 * Owns that end. Nothing is decided here, because there is no state to decide on: the facts cannot be believed. A person who has restored
 * them retries the run.
 *
 * broken-run-1  A run with a broken fact is never entered: it ends as `quarantined`, whoever waits for it hears that, and other runs go on.
 */
import { headOf, sealFacts } from '#engine/core/chain.ts'
import type { House } from '#engine/core/house.ts'
import { commitOnce } from '#engine/core/one-shot.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import type { RunFact } from '#model/run/fact.ts'
import type { StreamRecord } from '#ports/ledger.ts'

/** One that cannot be written now is let go, and met again at its next claim. */
export const quarantineBroken = (
  records: readonly StreamRecord[],
  houseOf: (tenant: TenantId) => House,
  letGo: (run: RunId) => void,
): void => {
  for (const record of records) quarantine(houseOf(record.tenant), record).catch(() => letGo(record.stream as RunId))
}

/** A conflict means that another process has taken the run since: it meets the same facts. */
const quarantine = async (house: House, record: StreamRecord): Promise<void> => {
  const run = record.stream as RunId
  const head = headOf(record)
  const fact: RunFact = {
    type: 'run.quarantined',
    at: Math.max(house.clock.now(), head.lastAt),
    error: { code: 'FACT_BROKEN', message: record.broken ?? 'its facts cannot be verified' },
  }
  const sealed = sealFacts(house, run, head, [fact])
  const outcome = await commitOnce(house.commit, {
    appendId: house.appendId(),
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
  house.publish.tell({ run, handler, status: 'quarantined', version: sealed.head.version, facts: [fact] })
  house.worker.signal(outcome.signalled)
}
