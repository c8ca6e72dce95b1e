/**
 * What workers are told: to leave, to pause, to go on; and the stop that holds all of them.
 *
 * Owns which order counts. Orders are facts that every worker reads in the order they were given; when one is read and how it is
 * followed is the worker's (engine/worker/worker.ts).
 *
 * orders-1  Of pause and resume the last one counts. Whoever was told to leave leaves, whatever it is told after that.
 * orders-2  A stop holds until it is lifted, also whoever comes later. A second one changes nothing, nor does a lift of none.
 */
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import { facts, type Machine } from '#model/kernel/machine.ts'

/** What one worker can be told. */
export type WorkerOrder = 'drain' | 'pause' | 'resume'

/** Nobody begins a step. */
export interface Stop {
  readonly by: string
  readonly reason: string | null
  readonly at: Instant
}

export type OrderFact =
  | { readonly type: `${WorkerOrder}_ordered`; readonly worker: WorkerId; readonly by: string }
  | ({ readonly type: 'stop_ordered' } & Stop)
  | { readonly type: 'stop_lifted'; readonly by: string }

export type OrderCommand =
  | { readonly type: 'order'; readonly order: WorkerOrder; readonly worker: WorkerId; readonly by: string }
  | ({ readonly type: 'stop' } & Stop)
  | { readonly type: 'lift'; readonly by: string }

/** As one worker stands; of orders to workers it knows only its own. */
export interface Standing {
  readonly drains: boolean
  readonly isPaused: boolean
  readonly stop: Stop | null
}

export const orders: Machine<Standing, OrderCommand, OrderFact> = {
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

/** Whether a worker that stands so takes anything new. */
export const takesAny = ({ drains, isPaused, stop }: Standing): boolean => !drains && !isPaused && stop === null
