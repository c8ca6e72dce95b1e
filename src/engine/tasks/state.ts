/**
 * Loads a task's state from the ledger, from its last checkpoint on.
 *
 * Owns the reading. Never writes (append.ts).
 */
import { type Restored, restoreCoordinator } from '#engine/coordinators/state.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readTaskFact } from '#model/kernel/fact-codec.ts'
import type { TaskId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import type { TaskState } from '#model/task/fact.ts'
import { task } from '#model/task/task.ts'
import type { StreamRecord } from '#ports/ledger.ts'

const restore = (record: StreamRecord, isWhole: boolean): TaskState | null => {
  const facts = record.facts.map(readTaskFact)
  const begin = facts.findLastIndex(({ type }) => type === 'task.checkpointed')
  return begin === -1 && !isWhole ? null : fold(task, facts.slice(Math.max(0, begin)))
}

/** Throws NOT_FOUND if the task does not exist or belongs to another tenant. */
export const loadTask = async (
  { ledger, tenant }: Pick<EngineContext, 'ledger' | 'tenant'>,
  id: TaskId,
): Promise<Restored<TaskState>> => {
  const [head] = await ledger.load([id], { after: Number.MAX_SAFE_INTEGER })
  const restored = head == null ? null : await restoreCoordinator(ledger, id, head.version, { restore })
  if (restored === null || restored.record.tenant !== tenant)
    throw new TrihandError('NOT_FOUND', `there is no task ${id}`)
  return restored
}
