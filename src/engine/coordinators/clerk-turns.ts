/**
 * Writers of one clerk in this process take turns: the worker that holds it, commands from outside, schedules that pass a gate.
 *
 * Owns whose turn it is. Where two turns are needed, the clerk's own comes first and the gate's second: no two can wait for each other.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { forEachOwner, TurnQueue } from '#engine/core/turn-queue.ts'
import type { ClerkId } from '#model/kernel/ids.ts'

const turnsOf = forEachOwner((_context: EngineContext) => new TurnQueue<ClerkId>())

export const inTurn = <Value>(
  context: EngineContext,
  clerk: ClerkId | null,
  work: () => Promise<Value>,
): Promise<Value> => (clerk === null ? work() : turnsOf(context).run(clerk, work))
