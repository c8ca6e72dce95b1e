/** How a cancel goes down from a run to what it has started: to runs as a cancel, to tasks as a withdrawal. */
import { type ChildId, isTaskId } from '../model/ids.ts'
import type { House } from './house.ts'
import { withdrawTask } from './task-command.ts'

/** One that has ended may refuse. */
export const cancelChild = (house: House, child: ChildId, by: string, reason: string): Promise<void> =>
  isTaskId(child) ? withdrawTask(house, child, reason) : house.worker.cancel(house.tenant, child, by, reason)
