/**
 * Runs that a coordinator wants gone: told so, and remembered until they have heard it.
 *
 * Owns what came of the telling. Which run is to stop is the model's; that it has ended is heard by the coordinator itself.
 *
 * stops-1  A run that the store did not let us reach counts as not told: its coordinator does not rest, and asks again.
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

  /** One that has ended meanwhile needs no cancel. */
  tell(run: RunId): void {
    if (this.telling.has(run)) return
    const told = this.context.worker.cancel(this.context.tenant, run, 'trihand', this.reason).then(
      () => true,
      (error: unknown) => !isStoreTrouble(error),
    )
    this.telling.set(run, told)
  }

  /** stops-1. */
  async told(): Promise<void> {
    const answers = await Promise.all(this.telling.values())
    this.telling.clear()
    if (answers.includes(false)) throw new TrihandError('LEDGER_UNAVAILABLE', 'a run that is to stop was not reached')
  }
}
