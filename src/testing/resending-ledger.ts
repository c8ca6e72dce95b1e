/** A ledger that resends its appends until their outcome is known, as every writer must; for suites that run behind a fault. */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'

export const resendingLedger = (inner: Ledger): Ledger => ({
  append: (batch) => appendUntilKnown(inner, batch),
  load: (streams, options) => inner.load(streams, options),
  events: (query) => inner.events(query),
  claim: (request) => inner.claim(request),
  beat: (request) => inner.beat(request),
  retire: (worker, now) => inner.retire(worker, now),
  close: () => inner.close(),
})

const appendUntilKnown = async (inner: Ledger, batch: readonly Append[]): Promise<readonly Outcome[]> => {
  for (;;) {
    try {
      return await inner.append(batch)
    } catch (error) {
      if (!(error instanceof TrihandError) || error.outcome !== 'unknown') throw error
    }
  }
}
