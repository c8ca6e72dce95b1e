/**
 * The world outside: what steps did to it, who did it and when. Effects are counted here, where they happen.
 *
 * Owns the record of executions and the delays of bodies. Never prevents anything: it is what our promises are measured against.
 */
import type { Effect } from '../../../src/model/step.ts'
import type { Owner, Scheduler } from './scheduler.ts'

export interface Execution {
  readonly run: string
  readonly step: string
  readonly effect: Effect
  readonly effectKey: string
  readonly attempt: number
  readonly worker: string
  /** By the worker's clock. */
  readonly at: number
  readonly tick: number
}

export class World {
  readonly executions: Execution[] = []
  readonly #scheduler: Scheduler
  /** For bodies whose worker is not known, which cannot be. */
  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** The effect has happened when this returns. */
  act(what: Omit<Execution, 'worker' | 'at' | 'tick'>): void {
    const { ticks } = this.#scheduler
    const worker = this.#worker()
    this.executions.push({ ...what, worker: worker.name, at: this.#scheduler.clockOf(worker), tick: ticks })
  }

  /** Settles after that time by the clock of whoever runs the body; never, if that worker crashes. */
  delay(ms: number): Promise<void> {
    const worker = this.#worker()
    return new Promise((resolve) => {
      if (ms === 0) this.#scheduler.submit(worker, resolve)
      else this.#scheduler.at(worker, this.#scheduler.clockOf(worker) + ms, resolve)
    })
  }

  #worker(): Owner {
    const { current } = this.#scheduler
    if (current === null) throw new Error('a body ran outside of any worker')
    return current
  }
}
