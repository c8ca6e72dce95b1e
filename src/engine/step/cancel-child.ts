/** Passes the cancel of a run on to what the run has started: runs are cancelled, tasks are withdrawn. */
import { queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { isStoreTrouble } from '#engine/core/store-retry.ts'
import { withdrawTask } from '#engine/tasks/command.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ChildId, isTaskId } from '#model/kernel/ids.ts'

/** A child that has ended may refuse. A child that waits in a gate's queue is taken out of it. */
export const cancelChild = async (
  context: EngineContext,
  child: ChildId,
  by: string,
  reason: string,
): Promise<void> => {
  if (isTaskId(child)) return withdrawTask(context, child, reason)
  try {
    await context.worker.cancel(context.tenant, child, by, reason)
  } catch (error) {
    if (!(error instanceof TrihandError) || error.code !== 'RUN_QUEUED') throw error
    const queued = await queuedRun(context, child)
    if (queued !== null && (await context.gates.withdraw(queued.handler, child, { by, detail: reason }))) return
    // It has begun in the meantime.
    await context.worker.cancel(context.tenant, child, by, reason)
  }
}

/** The same for all children of a run: false if the store could not be reached, so that the cancel has to be sent again. A child that has ended needs none. */
export const cancelReached = async (...cancel: Parameters<typeof cancelChild>): Promise<boolean> => {
  try {
    await cancelChild(...cancel)
    return true
  } catch (refusal) {
    return !isStoreTrouble(refusal)
  }
}
