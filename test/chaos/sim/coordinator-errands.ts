/**
 * What people ask of coordinators: to pause and resume a gate or a schedule, and to run a schedule now.
 *
 * Owns these requests. Everything that is paused is resumed in the end, so that everything can come to its end.
 */
import type { Engine } from '#engine/core/engine.ts'
import type { Client } from './client.ts'
import { isPaused, type Look } from './look.ts'
import { type Errand, type Play, START } from './play.ts'
import type { SimWorker } from './sim-worker.ts'
import { playOf } from './system.ts'
import type { Tape } from './tape.ts'

interface Desk {
  readonly tape: Tape
  readonly client: Client
  readonly later: (action: (worker: SimWorker) => void) => void
}

type Verb = 'pause' | 'resume'

const BY = 'client'
/** How many past slots one request is for. */
export const BACKFILLED = 3

const say = (engine: Engine, { name, coordinator }: Play, verb: Verb): Promise<void> => {
  if (coordinator?.kind === 'schedule') return engine.schedules[verb](name, { by: BY })
  return verb === 'pause' ? engine.pauseHandler(name, BY) : engine.resumeHandler(name, BY)
}

const resume = (desk: Pick<Desk, 'client' | 'later'>, play: Play): void =>
  desk.later((worker) => {
    const asked = { coordinator: play.name, fact: `${play.coordinator?.kind}.resumed`, id: '' }
    desk.client.askCoordinator(
      worker,
      asked,
      (engine) => say(engine, play, 'resume'),
      (again) => {
        if (again) resume(desk, play)
      },
    )
  })

/** Whether or not the outcome of the pause is known, it is resumed. */
const pause = (desk: Desk, play: Play): void =>
  desk.later((worker) => {
    const asked = { coordinator: play.name, fact: `${play.coordinator?.kind}.paused`, id: '' }
    desk.client.askCoordinator(
      worker,
      asked,
      (engine) => say(engine, play, 'pause'),
      () => resume(desk, play),
    )
  })

/** Repeats the request until it is answered, and sometimes once again after that. */
const runNow = (desk: Desk, play: Play, id: string): void =>
  desk.later((worker) => {
    const asked = { coordinator: play.name, fact: 'schedule.requested', id }
    const work = (engine: Engine): Promise<void> => engine.schedules.runNow(play.name, { id, by: BY })
    desk.client.askCoordinator(worker, asked, work, (again) => {
      if (again) runNow(desk, play, id)
    })
  })

/** Slots before the schedule existed: past by every clock. */
const backfill = (desk: Desk, play: Play, id: string, everyMs: number): void =>
  desk.later((worker) => {
    const asked = { coordinator: play.name, fact: 'schedule.requested', id }
    const span = { from: START - BACKFILLED * everyMs, to: START - everyMs, id, by: BY }
    const work = (engine: Engine): Promise<void> => engine.schedules.backfill(play.name, span)
    desk.client.askCoordinator(worker, asked, work, (again) => {
      if (again) backfill(desk, play, id, everyMs)
    })
  })

/** A pause with unknown outcome may take effect after the resume. */
export const resumeAll = (client: Client, look: Look, worker: SimWorker): void => {
  for (const { stream } of look.coordinators().filter(isPaused)) {
    const play = playOf(stream.handler)
    if (play !== undefined) resume({ client, later: (action) => action(worker) }, play)
  }
}

export const askOfCoordinator = (desk: Desk, play: Play, { id }: Errand): void => {
  const { tape } = desk
  if (tape.odds(250)) pause(desk, play)
  if (play.coordinator?.kind !== 'schedule') return
  if (tape.odds(500)) runNow(desk, play, `request-${id}`)
  if (tape.odds(100)) runNow(desk, play, `request-${id}`)
  if (play.coordinator.backfills !== true) return
  if (tape.odds(600)) backfill(desk, play, `backfill-${id}`, play.coordinator.everyMs)
  if (tape.odds(200)) backfill(desk, play, `backfill-${id}`, play.coordinator.everyMs)
}
