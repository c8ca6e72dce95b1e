/**
 * The line between one virtual worker and the shared store: a request that travels there and an answer that travels back.
 *
 * Owns what can go wrong on the way. A request that was sent may take effect although its sender crashed, or after its sender received
 * an unknown outcome; nothing that took effect is ever undone.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { CrashPoints } from './crash-points.ts'
import type { CallFault, Faults } from './faults.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import type { Tape } from './tape.ts'

export const READ_FAULTS: readonly CallFault[] = ['fails_before', 'slow']
export const WRITE_FAULTS: readonly CallFault[] = [
  'fails_before',
  'unknown_not_done',
  'done_then_fails',
  'lands_late',
  'slow',
]
export const APPEND_FAULTS: readonly CallFault[] = [...WRITE_FAULTS, 'disk_full', 'conflict']
const DELAYS_MS = [1, 40, 400, 3_000]

const cut = (outcome: 'not_done' | 'unknown'): TrihandError =>
  new TrihandError('LEDGER_UNAVAILABLE', 'the simulator cut the line', { outcome })

export interface LineDeps {
  readonly worker: Owner
  /** Always alive: what reached the store happens there. */
  readonly store: Owner
  readonly scheduler: Scheduler
  readonly tape: Tape
  readonly faults: Faults
  readonly points: CrashPoints
  readonly crash: (worker: Owner) => void
  /** Receives every request and answer, for studying one schedule. */
  readonly trace: ((line: string) => void) | null
}

export interface Request<T> {
  readonly name: () => string
  readonly possible: readonly CallFault[]
  readonly apply: () => Promise<T>
  /** What the store answers instead when it simulates a conflict; null if this request cannot meet one. */
  readonly conflict?: () => Promise<T> | null
}

export class Line {
  readonly #deps: LineDeps

  constructor(deps: LineDeps) {
    this.#deps = deps
  }

  /** The owner of this end. */
  get owner(): string {
    return this.#deps.worker.name
  }

  call<T>(request: Request<T>): Promise<T> {
    const { worker, store, scheduler, trace } = this.#deps
    trace?.(`${worker.name} asks ${request.name()}`)
    if (worker.state === 'dead') return new Promise(() => {})
    return new Promise<T>((resolve, reject) => {
      const settle = (result: Promise<T>): void =>
        void result.then(
          (value) => {
            trace?.(`${worker.name} gets ${request.name()}: ${JSON.stringify(value)}`)
            scheduler.submit(worker, () => resolve(value))
          },
          (error: Error) => {
            trace?.(`${worker.name} gets ${request.name()}: ${error.message}`)
            scheduler.submit(worker, () => reject(error))
          },
        )
      scheduler.submit(store, () => this.#arrive(request, settle))
    })
  }

  #arrive<T>(request: Request<T>, settle: (result: Promise<T>) => void): void {
    const { worker, store, scheduler, tape, faults } = this.#deps
    if (worker.state === 'dead') {
      faults.count('crash_in_flight')
      if (tape.below(2) === 0) void request.apply()
      return
    }
    if (this.#crashes(request, settle)) return
    const later = (work: () => void): void => void scheduler.at(store, scheduler.now + tape.pick(DELAYS_MS), work)
    const refuse = (error: TrihandError): void => settle(Promise.reject(error))
    switch (faults.forCall(request.possible)) {
      case null:
        return settle(request.apply())
      case 'fails_before':
        return refuse(cut('not_done'))
      case 'disk_full':
        return refuse(new TrihandError('STORAGE_FULL', 'the simulator filled the disk'))
      case 'unknown_not_done':
        return refuse(cut('unknown'))
      case 'done_then_fails':
        return void request.apply().then(() => refuse(cut('unknown')))
      case 'lands_late':
        refuse(cut('unknown'))
        return later(() => void request.apply())
      case 'slow':
        return later(() => settle(request.apply()))
      case 'conflict':
        return settle(request.conflict?.() ?? request.apply())
    }
  }

  /** True if the worker was to crash at this very call. */
  #crashes<T>(request: Request<T>, settle: (result: Promise<T>) => void): boolean {
    const { worker, scheduler, points, crash } = this.#deps
    const position = points.pass()
    if (position === null) return false
    if (position === 'after') {
      const result = request.apply()
      settle(result)
      // Queued right behind the answer.
      void result.then(() => scheduler.submit(worker, () => crash(worker)))
      return true
    }
    if (position === 'done') void request.apply()
    crash(worker)
    return true
  }
}
