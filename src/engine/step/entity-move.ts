/**
 * An entity moves from one state to the next: writes the document with the new state and the event that reports it in one append.
 *
 * Owns that no two moves start from the same version. The version is part of the event's id, and a ledger accepts an id once: the second
 * append is refused as a whole and must read again. Never decides whether a move is allowed (model/workflow/state-machine.ts).
 *
 * entity-move-1  If two runs move an entity from the same version, one move is refused, also when they run in different processes.
 * entity-move-2  Moves of one entity in this process take turns, and a move is checked again until it is made or is no longer allowed.
 */
import { causeFrom } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { routeAll } from '#engine/core/events.ts'
import { requireKey } from '#engine/core/row-key.ts'
import { forEachOwner, pauseAfterConflict, TurnQueue } from '#engine/core/turn-queue.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import type { Event } from '#model/event/event.ts'
import type { Json } from '#model/kernel/json.ts'
import { DOCUMENT_KEY } from '#model/kernel/row-key.ts'
import { STATE_MOVED } from '#model/workflow/state-machine.ts'
import type { EntityMove } from '#ports/step-port.ts'

const turnsOf = forEachOwner((_: EngineContext) => new TurnQueue<string>())

const eventOf = ({ context, record, state }: ActiveRun, move: EntityMove, version: number): Event => {
  const { table, key, entity, from, to } = move
  return {
    id: `state_${context.ids.digest(JSON.stringify([table, key, version]))}`,
    tenant: record.tenant,
    source: 'trihand',
    type: STATE_MOVED,
    subject: null,
    time: context.clock.now(),
    data: { entity, key, from, to, version, run_id: record.id, handler: record.handler },
    ...causeFrom(record, state),
    // No result of the run names this event: it belongs to the entity, and its cause is the event that started the run.
    causationId: record.event?.id ?? null,
  }
}

/** Returns false if the entity was moved since it was read. */
const moveEntity = async (activeRun: ActiveRun, move: EntityMove): Promise<boolean> => {
  const { context, record } = activeRun
  const { table, key, from, to } = move
  const version = move.version + 1
  requireKey(DOCUMENT_KEY, key)
  const { events, runs } = routeAll(context, [eventOf(activeRun, move, version)])
  const value = { state: to, from, run: record.id, version }
  const documents = [{ tenant: record.tenant, table, key, value }]
  const writes = runs.map((run) => run.write)
  const outcome = await commitSpawned(context, { writes, events, signals: [], documents }, runs)
  return outcome.kind !== 'conflict'
}

/** entity-move-2. */
export const moveEntityInOrder = (
  activeRun: ActiveRun,
  { table, key }: Pick<EntityMove, 'table' | 'key'>,
  next: (kept: Json | null) => EntityMove | null,
): Promise<void> => {
  const { context } = activeRun
  return turnsOf(context).run(JSON.stringify([table, key]), async () => {
    for (let conflicts = 0; ; await pauseAfterConflict(context, ++conflicts)) {
      const move = next(await context.document(activeRun.record.tenant, table, key))
      if (move === null || (await moveEntity(activeRun, move))) return
    }
  })
}
