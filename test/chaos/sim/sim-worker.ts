/**
 * One virtual worker: the real engine on simulated ports.
 *
 * Owns the wiring and the life of one process: started, paused, stopped, crashed. A crashed worker's ports never answer again, so
 * that no `finally` of its code runs, as in a real crash.
 */
import { Engine } from '#engine/core/engine.ts'
import type { EngineOptions } from '#engine/core/engine-deps.ts'
import { inlineExecutor } from '#engine/core/inline.ts'
import { enterFunction } from '#executors/workflow/function.ts'
import type { System } from '#manifest/define/system.ts'
import { taskOfStep } from '#manifest/human/humans.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { type RunId, type WorkerId, workerId } from '#model/kernel/ids.ts'
import { StepFailure } from '#model/run/step-failure.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import type { Faults } from './faults.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import type { Tape } from './tape.ts'

export interface WorkerDeps {
  readonly ledger: (owner: Owner) => Ledger
  readonly blobs: (owner: Owner) => Blobs
  readonly document: (owner: Owner) => Reader['document']
  /** Null: this store lists no documents, so that gates keep everything in their state. */
  readonly documents: ((owner: Owner) => Reader['documents']) | null
  readonly ids: Ids
  readonly scheduler: Scheduler
  readonly tape: Tape
  readonly faults: Faults
  readonly system: System
  /** True if it reports its identity, so that others know which versions are served. */
  readonly isNamed: boolean
  readonly options: Omit<EngineOptions['worker'], 'id'>
  readonly commit: EngineOptions['commit']
}

const LATE_WAKES_MS = [10, 300, 2_000]
const START_AGAIN_MS = 200
const EXECUTORS = new Map([['inline', inlineExecutor]])
const enter = enterFunction({ parse: durationMs, taskOf: taskOfStep })

const simClock = (scheduler: Scheduler, owner: Owner): Clock => ({
  now: () => scheduler.clockOf(owner),
  at: (instant, callback) => scheduler.at(owner, instant, callback),
  defer: (callback) => scheduler.submit(owner, callback),
})

/** Wakes are hints: some are lost, some are duplicated, some are late. */
class SimDispatcher implements Dispatcher {
  readonly #deps: WorkerDeps
  readonly #owner: Owner
  #handler: (run: RunId) => void = () => {}

  constructor(deps: WorkerDeps, owner: Owner) {
    this.#deps = deps
    this.#owner = owner
  }

  wake(run: RunId, at: number): void {
    const { faults, tape } = this.#deps
    const fault = faults.forWake()
    if (fault === 'wake_lost') return
    this.#call(run, fault === 'wake_late' ? at + tape.pick(LATE_WAKES_MS) : at)
    if (fault === 'wake_twice') this.#call(run, at)
  }

  async start(handler: (run: RunId) => void): Promise<void> {
    this.#handler = handler
  }

  async stop(): Promise<void> {
    this.#handler = () => {}
  }

  #call(run: RunId, at: number): void {
    const { scheduler } = this.#deps
    const deliver = (): void => this.#handler(run)
    if (at <= scheduler.clockOf(this.#owner)) scheduler.submit(this.#owner, deliver)
    else scheduler.at(this.#owner, at, deliver)
  }
}

export class SimWorker implements Owner {
  readonly name: string
  readonly id: WorkerId
  readonly engine: Engine
  state: Owner['state'] = 'alive'
  skewMs = 0
  phase: 'starting' | 'serving' | 'stopping' = 'starting'
  readonly #scheduler: Scheduler

  constructor(name: string, deps: WorkerDeps) {
    const { scheduler, ids, system, options, commit } = deps
    this.name = name
    this.#scheduler = scheduler
    this.id = workerId(ids.uuid())
    this.engine = new Engine(
      {
        ledger: deps.ledger(this),
        blobs: deps.blobs(this),
        document: deps.document(this),
        ...(deps.documents !== null && { documents: deps.documents(this) }),
        clock: simClock(scheduler, this),
        ids,
        dispatcher: new SimDispatcher(deps, this),
        executors: EXECUTORS,
        enter,
        errors: (step, failure) => new StepFailure(step, failure),
        system,
      },
      { commit, worker: { ...options, id: this.id, ...(deps.isNamed && { name }) } },
    )
  }

  /** A process that cannot reach its ledger at the start tries again. */
  start(): void {
    this.#scheduler.submit(this, () => {
      void this.engine.start().then(
        () => {
          if (this.phase === 'starting') this.phase = 'serving'
        },
        () => void this.#scheduler.at(this, this.#scheduler.clockOf(this) + START_AGAIN_MS, () => this.start()),
      )
    })
  }

  /** The process ends once it has released its runs, or could not. */
  stop(whenOver: () => void): void {
    this.phase = 'stopping'
    this.#scheduler.submit(this, () => void this.engine.stop().then(whenOver, whenOver))
  }
}
