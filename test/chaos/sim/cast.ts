/**
 * The virtual workers of one schedule: one to four at a time, with crashes, pauses, stops, clocks that go wrong.
 *
 * Owns which workers live. Never decides when something happens to them, only does it.
 */
import type { System } from '#manifest/define/system.ts'
import type { Client } from './client.ts'
import type { Faults, TurnFault } from './faults.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import type { SimWorker } from './sim-worker.ts'
import type { Tape } from './tape.ts'
import { type Absence, LEASE_TTL_MS } from './witness.ts'

const MAX_ALIVE = 4
/** More crashes would only make every run end in quarantine. */
const MAX_CRASHES = 5
const JUMPS_MS = [100, 1_000, LEASE_TTL_MS + 500]
const SKEWS_MS = [-5, -60, 30, 700, 0]
const PAUSES_MS = [LEASE_TTL_MS + 800, 500, 3 * LEASE_TTL_MS]
const RESPAWN_MS = [0, 500, LEASE_TTL_MS]

export interface CastDeps {
  readonly scheduler: Scheduler
  readonly tape: Tape
  readonly faults: Faults
  readonly client: Client
  readonly store: Owner
  readonly spawn: (name: string) => SimWorker
  readonly newEdition: System
}

export class Cast {
  readonly #deps: CastDeps
  /** When workers were dead, about to stop, or asleep for longer than their leases. */
  readonly absences: Absence[] = []
  readonly #workers: SimWorker[] = []
  #named = 0
  #crashes = 0

  constructor(deps: CastDeps) {
    this.#deps = deps
  }

  /** The workers that can be called: started, awake and not about to stop. */
  get serving(): readonly SimWorker[] {
    return this.#workers.filter((worker) => worker.state === 'alive' && worker.phase === 'serving')
  }

  get alive(): readonly SimWorker[] {
    return this.#workers.filter((worker) => worker.state !== 'dead')
  }

  spawn(): void {
    if (this.alive.length >= MAX_ALIVE) return
    const worker = this.#deps.spawn(`worker-${++this.#named}`)
    this.#workers.push(worker)
    worker.start()
  }

  strike(fault: TurnFault): void {
    const { scheduler, tape, faults } = this.#deps
    if (fault === 'time_jump') {
      scheduler.advanceTo(scheduler.now + tape.pick(JUMPS_MS))
    } else if (fault === 'new_worker') {
      this.spawn()
    } else {
      const awake = this.#workers.filter((worker) => worker.state === 'alive')
      if (awake.length === 0) return
      this.#strikeOne(fault, tape.pick(awake))
    }
    faults.count(fault)
  }

  crash(worker: Owner): void {
    const found = this.#workers.find((one) => one === worker)
    if (found !== undefined) this.#crash(found)
  }

  /** After the last fault: all workers are awake, and at least one exists. */
  heal(): void {
    for (const worker of this.#workers) if (worker.state === 'paused') this.#deps.scheduler.resume(worker)
    if (this.alive.length === 0) this.spawn()
  }

  #strikeOne(fault: Exclude<TurnFault, 'time_jump' | 'new_worker'>, worker: SimWorker): void {
    const { tape, newEdition } = this.#deps
    switch (fault) {
      case 'crash':
        return this.#crashes < MAX_CRASHES ? this.#crash(worker) : undefined
      case 'pause':
        return this.#pause(worker)
      case 'stop':
        this.#missing(worker, Number.POSITIVE_INFINITY)
        return worker.stop(() => this.#gone(worker))
      case 'clock_skew':
        worker.skewMs = tape.pick(SKEWS_MS)
        return
      case 'new_definition':
        return worker.engine.replace(newEdition)
    }
  }

  #crash(worker: SimWorker): void {
    this.#crashes++
    this.#gone(worker)
    const { scheduler, store, tape } = this.#deps
    scheduler.at(store, scheduler.now + tape.pick(RESPAWN_MS), () => this.spawn())
  }

  #missing({ name: worker }: SimWorker, to: number): void {
    this.absences.push({ worker, from: this.#deps.scheduler.ticks, to })
  }

  #gone(worker: SimWorker): void {
    this.#missing(worker, Number.POSITIVE_INFINITY)
    this.#deps.scheduler.kill(worker)
    this.#deps.client.lose(worker)
  }

  #pause(worker: SimWorker): void {
    const { scheduler, store, tape } = this.#deps
    scheduler.pause(worker)
    const pauseMs = tape.pick(PAUSES_MS)
    // It wakes when the pause is over, or with the others: its next heartbeat shows how long it was away.
    if (pauseMs > LEASE_TTL_MS) this.#missing(worker, scheduler.ticks)
    scheduler.at(store, scheduler.now + pauseMs, () => {
      if (worker.state === 'paused') scheduler.resume(worker)
    })
  }
}
