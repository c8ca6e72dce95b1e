/**
 * After which event a wait begins to count: since the run began, from now on, or within a length of time.
 *
 * Owns that choice. What a wait then receives is look.ts.
 */
import type { WaitSpec } from '#model/event/wait.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { WaitRequest } from '#ports/step-gate.ts'
import { pagesOf } from './look.ts'

/** The run that waits: its tenant, the last event before it, and the time now. */
interface Waiting {
  readonly tenant: TenantId
  readonly base: number
  readonly now: Instant
}

export const lookbackBase = async (
  ledger: Pick<Ledger, 'events'>,
  { lookback }: Pick<WaitRequest, 'lookback'>,
  { types, match }: Pick<WaitSpec, 'types' | 'match'>,
  { tenant, base, now }: Waiting,
): Promise<number> => {
  switch (lookback.kind) {
    case 'run':
      return base
    case 'none': {
      const [last] = await ledger.events({ tenant, types, after: base, newest: true, limit: 1 })
      return last?.sequence ?? base
    }
    case 'within': {
      const since = now - lookback.ms
      let last = base
      for await (const page of pagesOf(ledger, tenant, { types, match, base: 0 })) {
        const first = page.find((event) => event.time >= since)
        if (first !== undefined) return first.sequence - 1
        last = page.at(-1)?.sequence ?? last
      }
      return last
    }
  }
}
