/** How a cancel goes down from a run to what it has started: to runs as a cancel, to tasks as a withdrawal. */
import { queuedRun } from '#engine/coordinators/flow-outcomes.ts'
import type { House } from '#engine/core/house.ts'
import { withdrawTask } from '#engine/tasks/command.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ChildId, isTaskId } from '#model/kernel/ids.ts'

/** One that has ended may refuse. One that waits for its turn is taken out of the line. */
export const cancelChild = async (house: House, child: ChildId, by: string, reason: string): Promise<void> => {
  if (isTaskId(child)) return withdrawTask(house, child, reason)
  try {
    await house.worker.cancel(house.tenant, child, by, reason)
  } catch (error) {
    if (!(error instanceof TrihandError) || error.code !== 'RUN_QUEUED') throw error
    const queued = await queuedRun(house, child)
    if (queued !== null && (await house.gates.withdraw(queued.handler, child, { by, detail: reason }))) return
    // It has begun meanwhile.
    await house.worker.cancel(house.tenant, child, by, reason)
  }
}
