/**
 * Orders to workers: drain, pause and resume; and the stop that holds all of them.
 *
 * Owns which order takes effect. Orders are facts that every worker reads in the order in which they were given; the worker decides when to read
 * them and how to follow them (engine/worker/worker.ts).
 *
 * worker-control-1  The last of pause and resume takes effect. A worker that was ordered to drain leaves, whatever it is ordered after that.
 * worker-control-2  A stop holds until it is lifted, also for workers that start later. A second stop changes nothing, nor does a lift without a stop.
 */
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import { facts, type Machine } from '#model/kernel/machine.ts'

/** An order to one worker. */
export type WorkerOrder = 'drain' | 'pause' | 'resume'

/** No worker begins a step. */
export interface Stop {
  readonly by: string
  readonly reason: string | null
  readonly at: Instant
}

export type WorkerControlFact =
  | { readonly type: `${WorkerOrder}_ordered`; readonly worker: WorkerId; readonly by: string }
  | ({ readonly type: 'stop_ordered' } & Stop)
  | { readonly type: 'stop_lifted'; readonly by: string }

export type WorkerControlCommand =
  | { readonly type: 'order'; readonly order: WorkerOrder; readonly worker: WorkerId; readonly by: string }
  | ({ readonly type: 'stop' } & Stop)
  | { readonly type: 'lift'; readonly by: string }

/** The orders in effect for one worker; it knows no orders to other workers. */
export interface WorkerControlState {
  readonly drains: boolean
  readonly isPaused: boolean
  readonly stop: Stop | null
}

export const workerControl: Machine<WorkerControlState, WorkerControlCommand, WorkerControlFact> = {
  initial: { drains: false, isPaused: false, stop: null },
  decide: (standing, command) => {
    switch (command.type) {
      case 'order':
        return facts({ type: `${command.order}_ordered`, worker: command.worker, by: command.by })
      case 'stop':
        return standing.stop === null ? facts({ ...command, type: 'stop_ordered' }) : facts()
      case 'lift':
        return standing.stop === null ? facts() : facts({ type: 'stop_lifted', by: command.by })
    }
  },
  evolve: (standing, fact) => {
    switch (fact.type) {
      case 'drain_ordered':
        return { ...standing, drains: true }
      case 'pause_ordered':
        return { ...standing, isPaused: true }
      case 'resume_ordered':
        return { ...standing, isPaused: false }
      case 'stop_ordered':
        return { ...standing, stop: standing.stop ?? { by: fact.by, reason: fact.reason, at: fact.at } }
      case 'stop_lifted':
        return { ...standing, stop: null }
    }
  },
}

/** True if a worker under these orders claims anything new. */
export const takesAny = ({ drains, isPaused, stop }: WorkerControlState): boolean =>
  !drains && !isPaused && stop === null
