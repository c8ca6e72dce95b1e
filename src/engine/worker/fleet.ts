/**
 * Orders from people to the workers of a ledger: to one worker, or to all at once.
 *
 * Owns how an order is given. It is an event in the ledger: workers of this process follow it at once, others with their next heartbeat
 * (worker-control.ts). Orders belong to the server, whichever tenant asks.
 */
import { advanceWorkerControl } from '#engine/core/advance.ts'
import type { System } from '#manifest/define/system.ts'
import type { TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { NO_VERSION } from '#model/worker/pin.ts'
import type { Stop, WorkerControlCommand, WorkerOrder } from '#model/worker/worker-control.ts'
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
  /** Makes the worker of this process read its orders at once. */
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

  /** Orders a worker, of this process or another, to drain, to pause, or to resume. */
  order(order: WorkerOrder, worker: WorkerId, { by = 'local' }: By = {}): Promise<void> {
    return this.give({ type: 'order', order, worker, by })
  }

  /** Stops all workers: no step begins until the stop is lifted; attempts under way may finish. Returns the stop in force. */
  async stop({ by = 'local', reason = null }: By & { readonly reason?: string | null } = {}): Promise<Stop | null> {
    await this.give({ type: 'stop', by, reason, at: this.deps.clock.now() })
    return this.stopped()
  }

  async lift({ by = 'local' }: By = {}): Promise<void> {
    await this.give({ type: 'lift', by })
  }

  /** Returns the stop in force; null if there is none. */
  async stopped(): Promise<Stop | null> {
    await this.orders.look()
    return this.orders.standing.stop
  }

  /** Returns why no worker takes a run that is due; null if one may. */
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

  private async give(command: WorkerControlCommand): Promise<void> {
    await this.orders.look()
    for (const fact of advanceWorkerControl(this.orders.standing, command).facts) {
      const { type, ...about } = eventOf(fact)
      await this.deps.tell(type, about)
    }
    await this.deps.follow()
  }
}
