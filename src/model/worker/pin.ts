/**
 * Pinning: a run stays on the code version that it began with, as far as its handler's policy requires.
 *
 * Owns the rule which worker may claim which run. The ledger knows which workers are alive; manifest/define/define.ts computes the hash of a
 * version.
 *
 * pin-1  A worker claims a run of another version only if it has the run's handler.
 * pin-2  With `soft`, a worker leaves a run to the workers of the run's version while one of them is alive and claims runs of that handler; after
 *        the run has waited for `pin_for` it claims the run anyway.
 * pin-3  With `hard`, a worker never claims a run of another version.
 * pin-4  With `none`, a run belongs to no version: every worker that has its handler claims it.
 * pin-5  A run that no worker has claimed yet begins with the version that claims it first: nothing is handed over.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { takesRuns, type WorkerInfo } from './worker-info.ts'

export const PIN_MODES = ['soft', 'hard', 'none'] as const
export type PinMode = (typeof PIN_MODES)[number]

export interface Pin {
  readonly mode: PinMode
  /** How long a due run waits for a busy worker of its own version. */
  readonly forMs: number
}

/** Ten minutes: longer than a rolling restart keeps the workers of a version busy. */
export const DEFAULT_PIN: Pin = { mode: 'soft', forMs: 600_000 }

/** The version of a run that belongs to no version (pin-4). */
export const NO_VERSION = ''

/** A handler whose runs of other versions a worker may claim. */
export interface Takeover {
  readonly handler: string
  /** A run that has been due for this long is claimed even while a worker of its version is alive. */
  readonly afterMs: number
  /** The handler's pin is `none`: runs without a version stay without one. */
  readonly isFree: boolean
}

/** The worker that claims. */
export interface Taker {
  readonly version: string
  /** Absent: it claims no run of another version. */
  readonly takesOver?: readonly Takeover[]
}

/** The part of a worker's info that pinning uses. */
type Living = Pick<WorkerInfo, 'version' | 'handlers' | 'ownOnly' | 'drains' | 'halt'>

const hasHandler = ({ handlers }: Living, handler: string): boolean => handlers == null || handlers.includes(handler)

/** True if one of these workers has this version and claims runs of the handler. */
export const isServed = (living: Iterable<Living>, version: string, handler: string): boolean => {
  for (const worker of living) {
    const isOfVersion = worker.version === version && takesRuns(worker)
    if (isOfVersion && hasHandler(worker, handler)) return true
  }
  return false
}

export interface PinnedRun {
  readonly handler: string
  readonly version: string
  /** Since when it has been due. */
  readonly wakeAt: Instant
}

/** pin-1 to pin-4. The list of a taker has no handler with `hard`, and none that its system lacks. */
export const mayTake = (
  run: PinnedRun,
  { version, takesOver = [] }: Taker,
  world: { readonly now: Instant; readonly living: Iterable<Living> },
): boolean => {
  if (run.version === version) return true
  const takeover = takesOver.find(({ handler }) => handler === run.handler)
  if (takeover === undefined) return false
  if (run.version === NO_VERSION || !isServed(world.living, run.version, run.handler)) return true
  return run.wakeAt <= world.now - takeover.afterMs
}

/** The version of a run after a worker of version `taker` has claimed it. */
export const pinAfter = (before: string, taker: string, isFree: boolean): string =>
  before === NO_VERSION && isFree ? NO_VERSION : taker

/** The first version of a run that goes from version `before` to another (pin-5). `epoch`: how often the run has been claimed before. */
export const bornAfter = (born: string | null, before: string, epoch: number): string | null =>
  epoch === 0 ? born : (born ?? before)

/** True if this worker may claim the run, now or once the workers of the run's version are gone. */
const couldTake = (worker: Living, { handler, version }: Pick<PinnedRun, 'handler' | 'version'>): boolean => {
  if (!hasHandler(worker, handler)) return false
  const isOwn = version === NO_VERSION || worker.version === undefined || worker.version === version
  return isOwn || !(worker.ownOnly?.includes(handler) ?? false)
}

/** The reason why none of these workers can claim the run, phrased as what the run waits for; null: one of them can. */
export const noHandlerFor = (
  run: Pick<PinnedRun, 'handler' | 'version'>,
  workers: readonly Living[],
): string | null => {
  if (workers.some((worker) => couldTake(worker, run))) return null
  const [all, { handler, version }] = [workers.length, run]
  return workers.some((worker) => hasHandler(worker, handler))
    ? `a worker of version ${version}, which it is pinned to (pin: hard): none of ${all} running workers has that version of ${handler}; start one (NO_HANDLER)`
    : `a worker that has the handler ${handler}: none of ${all} running workers has it; start one whose system has it (NO_HANDLER)`
}
