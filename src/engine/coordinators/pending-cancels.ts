/**
 * Cancels that a coordinator has requested of runs, kept until they are delivered.
 *
 * Owns the result of each delivery. The model decides which run is cancelled; the coordinator itself notices that a run has ended.
 *
 * pending-cancels-1  A run that could not be reached because the store failed counts as not cancelled: its coordinator does not park, and asks again.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { isStoreTrouble } from '#engine/core/store-retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'

export class PendingCancels {
  private readonly context: Pick<EngineContext, 'worker' | 'tenant'>
  private readonly reason: string
  private readonly telling = new Map<RunId, Promise<boolean>>()

  constructor(context: Pick<EngineContext, 'worker' | 'tenant'>, reason: string) {
    this.context = context
    this.reason = reason
  }

  /** Requests the cancel of a run. If the run has already ended, the refusal counts as delivered. */
  tell(run: RunId): void {
    if (this.telling.has(run)) return
    const told = this.context.worker.cancel(this.context.tenant, run, 'trihand', this.reason).then(
      () => true,
      (error: unknown) => !isStoreTrouble(error),
    )
    this.telling.set(run, told)
  }

  /** pending-cancels-1: waits for all requests; throws if the store failed for one of them. */
  async told(): Promise<void> {
    const answers = await Promise.all(this.telling.values())
    this.telling.clear()
    if (answers.includes(false)) throw new TrihandError('LEDGER_UNAVAILABLE', 'a run could not be cancelled')
  }
}
