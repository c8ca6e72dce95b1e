/**
 * An entity moves from one state to the next: the document that says where it is, and the event that tells of it, in one append.
 *
 * Owns that no two moves start from the same version. An event's identity is taken once in a ledger, so the version is part of it: who
 * comes second is refused whole, and must look again. Never judges a move (model/workflow/state-machine.ts).
 *
 * entity-move-1  Of two that move an entity from the same version, one is refused, in whichever process they are.
 * entity-move-2  Moves of one entity by this process take turns, and a move is judged again until it is made or has become wrong.
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
import type { EntityMove } from '#ports/step-gate.ts'

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
    // No result of the run names it: it is the entity's, and what the run was about is what moved it.
    causationId: record.event?.id ?? null,
  }
}

/** False: another has moved it since it was read. */
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
export const moveInTurn = (
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
