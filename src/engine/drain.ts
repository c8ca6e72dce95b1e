/**
 * The order to drain: given to a worker by its id, from any process, as an event that all can see.
 *
 * Owns its type and who has been ordered. What draining means is the worker's (worker.ts).
 */
import type { TenantId, WorkerId } from '../model/ids.ts'
import type { Ledger } from '../ports/ledger.ts'

export const DRAIN_ORDERED = 'trihand.worker.drain_ordered'

const PAGE = 100

export class DrainOrders {
  private readonly ledger: Pick<Ledger, 'events'>
  private readonly tenant: () => TenantId
  private seen = 0

  constructor(ledger: Pick<Ledger, 'events'>, tenant: () => TenantId) {
    this.ledger = ledger
    this.tenant = tenant
  }

  /** Whether one of these names has been ordered to drain since the last look. */
  async concern(isOwn: (worker: WorkerId) => boolean): Promise<boolean> {
    for (;;) {
      const query = { tenant: this.tenant(), types: [DRAIN_ORDERED], after: this.seen, limit: PAGE }
      const orders = await this.ledger.events(query)
      this.seen = orders.at(-1)?.sequence ?? this.seen
      if (orders.some(({ subject }) => isOwn(subject as WorkerId))) return true
      if (orders.length < PAGE) return false
    }
  }
}
