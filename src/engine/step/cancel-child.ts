/** How a cancel goes down from a run to what it has started: to runs as a cancel, to tasks as a withdrawal. */
import { queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { withdrawTask } from '#engine/tasks/command.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ChildId, isTaskId } from '#model/kernel/ids.ts'

/** One that has ended may refuse. One that waits for its turn is taken out of the line. */
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
    // It has begun meanwhile.
    await context.worker.cancel(context.tenant, child, by, reason)
  }
}
