/**
 * A mutex per coordinator for its writers in this process: the worker that holds it, commands from outside, schedules that pass a gate.
 *
 * Owns the order of the writers. A writer that needs two turns takes the coordinator's own first and the gate's second: no deadlock.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { forEachOwner, TurnQueue } from '#engine/core/turn-queue.ts'
import type { CoordinatorId } from '#model/kernel/ids.ts'

const turnsOf = forEachOwner((_context: EngineContext) => new TurnQueue<CoordinatorId>())

export const inTurn = <Value>(
  context: EngineContext,
  coordinator: CoordinatorId | null,
  work: () => Promise<Value>,
): Promise<Value> => (coordinator === null ? work() : turnsOf(context).run(coordinator, work))
