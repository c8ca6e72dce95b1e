/**
 * The workers of a ledger as people command them: one by one, or all at once.
 *
 * Owns how an order is given. It is an event in the ledger: workers of this process follow it at once, others with their next beat
 * (orders.ts). Belongs to the server, whatever tenant asks.
 */
import { advanceOrders } from '#engine/core/advance.ts'
import type { System } from '#manifest/define/system.ts'
import type { TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { NO_VERSION } from '#model/worker/pin.ts'
import type { OrderCommand, Stop, WorkerOrder } from '#model/worker/worker-control.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'
import { noWorkerFor, type WaitingRun } from './claim-filter.ts'
import { eventOf, WorkerControl } from './worker-control.ts'

interface Deps {
  readonly ledger: Pick<Ledger, 'events' | 'load'>
  readonly clock: Pick<Clock, 'now'>
  readonly tenant: TenantId
  readonly system: () => System
  readonly workers: Reader['workers']
  readonly tell: (type: string, about: { subject: string; data: Json }) => Promise<unknown>
  /** The worker of this process looks at once. */
  readonly follow: () => Promise<void>
}

type By = { readonly by?: string }

const NOBODY = { isOwn: () => false }

export class Fleet {
  private readonly deps: Deps
  private readonly orders: WorkerControl

  constructor(deps: Deps) {
    this.deps = deps
    this.orders = new WorkerControl(deps.ledger, () => deps.tenant, NOBODY)
  }

  /** To leave, to pause, or to go on; a worker of this process or another. */
  order(order: WorkerOrder, worker: WorkerId, { by = 'local' }: By = {}): Promise<void> {
    return this.give({ type: 'order', order, worker, by })
  }

  /** No step begins anywhere until it is lifted; what is under way may finish. Answers with the stop that holds. */
  async stop({ by = 'local', reason = null }: By & { readonly reason?: string | null } = {}): Promise<Stop | null> {
    await this.give({ type: 'stop', by, reason, at: this.deps.clock.now() })
    return this.stopped()
  }

  async lift({ by = 'local' }: By = {}): Promise<void> {
    await this.give({ type: 'lift', by })
  }

  /** The stop that holds now; null: there is none. */
  async stopped(): Promise<Stop | null> {
    await this.orders.look()
    return this.orders.standing.stop
  }

  /** Why nobody takes a run that is due; null if somebody may. */
  async lacks(run: WaitingRun & Partial<Pick<RunSummary, 'id'>>): Promise<string | null> {
    const { clock, system, workers, ledger } = this.deps
    const now = clock.now()
    if (run.leased || run.wakeAt === null || run.wakeAt > now) return null
    const stop = await this.stopped()
    if (stop === null) {
      const [record] = run.id === undefined ? [] : await ledger.load([run.id], { after: Number.MAX_SAFE_INTEGER })
      return noWorkerFor({ ...run, systemHash: record?.systemHash ?? NO_VERSION }, { system: system(), now, workers })
    }
    return `the stop to be lifted: ${stop.by} stopped everything${stop.reason === null ? '' : ` (${stop.reason})`}`
  }

  private async give(command: OrderCommand): Promise<void> {
    await this.orders.look()
    for (const fact of advanceOrders(this.orders.standing, command).facts) {
      const { type, ...about } = eventOf(fact)
      await this.deps.tell(type, about)
    }
    await this.deps.follow()
  }
}
