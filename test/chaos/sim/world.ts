/**
 * The outside world: what steps did to it, who did it and when. Effects are counted here, where they happen.
 *
 * Owns the record of executions and the delays of bodies. Never prevents anything: our promises are measured against it.
 */
import type { System } from '#manifest/define/system.ts'
import type { Effect } from '#model/run/step.ts'
import type { CrashPoints } from './crash-points.ts'
import type { Owner, Scheduler } from './scheduler.ts'

/** Which of two versions of the code. */
export type Edition = 1 | 2

export interface Execution {
  readonly run: string
  readonly step: string
  readonly effect: Effect
  readonly effectKey: string
  readonly attempt: number
  /** The worker whose code did it. */
  readonly edition: Edition
  /** By the worker's clock. */
  readonly at: number
  readonly tick: number
}

export interface WorldDeps {
  readonly scheduler: Scheduler
  readonly points: CrashPoints
  readonly crash: (worker: Owner) => void
  readonly editions: { readonly [Key in Edition]: Pick<System, 'hash'> }
}

const NOTHING = (): void => {}

export class World {
  readonly executions: Execution[] = []
  /** By run: when its handler was first entered, by the worker's clock. */
  readonly entries = new Map<string, number>()
  /** Executions whose body has not ended, with their worker. */
  readonly #atWork = new Map<Execution, Owner>()
  readonly #given = new Map<string, Set<string>>()
  readonly #deps: WorldDeps

  constructor(deps: WorldDeps) {
    this.#deps = deps
  }

  /** The effect has happened when this returns, unless the worker crashed before it. Call the returned function when the body ends. */
  act(what: Omit<Execution, 'at' | 'tick'>): () => void {
    const { scheduler, points, crash } = this.#deps
    const worker = this.#worker()
    if (worker.state === 'dead') return NOTHING
    const position = points.pass()
    if (position === 'before') {
      crash(worker)
      return NOTHING
    }
    const at = scheduler.clockOf(worker)
    const execution = { ...what, at, tick: scheduler.ticks }
    this.executions.push(execution)
    this.#atWork.set(execution, worker)
    if (position === 'done') crash(worker)
    if (position === 'after') scheduler.afterwards(() => crash(worker))
    return () => void this.#atWork.delete(execution)
  }

  versionOf(edition: Edition): string {
    return this.#deps.editions[edition].hash
  }

  /** The handler of this run is entered; only the first time counts. */
  enter(run: string): void {
    const worker = this.#worker()
    if (worker.state !== 'dead' && !this.entries.has(run)) this.entries.set(run, this.#deps.scheduler.clockOf(worker))
  }

  /** How many runs have received this event so far, including this one. */
  runsGiven(event: string, run: string): number {
    const runs = this.#given.get(event) ?? new Set()
    this.#given.set(event, runs.add(run))
    return runs.size
  }

  /** The last execution of this step. */
  lastOf(run: string, step: string): Execution | undefined {
    return this.executions.findLast((one) => one.run === run && one.step === step)
  }

  /** Its body has not ended, and its worker lives or will resume. */
  mayStillAct(execution: Execution): boolean {
    const worker = this.#atWork.get(execution)
    return worker !== undefined && worker.state !== 'dead'
  }

  /** Settles after that time by the clock of the worker that runs the body; never, if that worker crashes. */
  delay(ms: number): Promise<void> {
    const { scheduler } = this.#deps
    const worker = this.#worker()
    return new Promise((resolve) => {
      scheduler.at(worker, scheduler.clockOf(worker) + ms, resolve)
    })
  }

  #worker(): Owner {
    const { current } = this.#deps.scheduler
    if (current === null) throw new Error('a body ran outside of any worker')
    return current
  }
}
