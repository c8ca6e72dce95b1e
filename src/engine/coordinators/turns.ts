/**
 * Writers of one coordinator in this process take turns: the worker that holds it, commands from outside, schedules that pass a gate.
 *
 * Owns whose turn it is. Where two turns are needed, the coordinator's own comes first and the gate's second: no two can wait for each other.
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
