/**
 * Which worker may execute a run: what a handler requires of a worker, and how well a worker suits it.
 *
 * Owns the rule of fit and the order of preference. Does not know which runs are due (the ledger) or which workers are alive (the worker asks).
 *
 * placement-1  A worker that does not fit is never offered the run: wrong pool, a required label missing, a module its pool lacks, no code.
 * placement-2  Among workers that fit the best suited comes first; the others wait a moment, and only while a better one is alive.
 * placement-3  A run of a sticky handler goes back to the worker that had it last; the others wait a moment, if there are any.
 * placement-4  In a pool with a limit only the oldest workers up to that number claim runs; the others stand by until one of these leaves.
 */
import { DEFAULT_PIN, type Pin } from './pin.ts'
import { takesRuns, type WorkerInfo, type WorkerPlace } from './worker-info.ts'

export interface Placement {
  /** Null: any pool. */
  readonly pool: string | null
  readonly module: string | null
  /** Which version of the code may continue a run of this handler. */
  readonly pin: Pin
  /** The accepted values of each required label. */
  readonly require: Readonly<Record<string, readonly string[]>>
  readonly prefer: readonly Preference[]
  /** True if a run prefers the worker that had it last. */
  readonly sticky: boolean
  /** The system declares the handler but has no code for it: its runs wait for a worker that has the code. */
  readonly lacksCode?: true
}

export interface Preference {
  readonly label: string
  readonly value: string
  readonly weight: number
}

export const ANYWHERE: Placement = {
  pool: null,
  module: null,
  pin: DEFAULT_PIN,
  require: {},
  prefer: [],
  sticky: false,
}

/** How long a run is left to a worker that suits it better, or that had it last. */
export const PREFERENCE_DELAY_MS = 1_000

const label = (worker: WorkerPlace, name: string): string | undefined =>
  Object.hasOwn(worker.labels, name) ? worker.labels[name] : undefined

/** What this worker lacks for the run, as text; null if it fits (placement-1). */
export const misfit = (worker: WorkerPlace, placement: Placement): string | null => {
  if (placement.lacksCode === true) return 'its code'
  if (placement.pool !== null && placement.pool !== worker.pool) return `pool ${placement.pool}`
  if (placement.module !== null && worker.modules !== null && !worker.modules.includes(placement.module))
    return `module ${placement.module}`
  for (const [name, values] of Object.entries(placement.require)) {
    const found = label(worker, name)
    if (found === undefined || !values.includes(found)) return `${name}=${values.join('|')}`
  }
  return null
}

/** The sum of the weights of the preferences that the worker meets. */
export const suitability = (worker: WorkerPlace, { prefer }: Placement): number =>
  prefer.reduce((sum, { label: name, value, weight }) => (label(worker, name) === value ? sum + weight : sum), 0)

/** placement-2: true if another worker fits and is better suited. */
const isSecondChoice = (worker: WorkerPlace, others: readonly WorkerPlace[], placement: Placement): boolean => {
  if (placement.prefer.length === 0) return false
  const own = suitability(worker, placement)
  return others.some((other) => misfit(other, placement) === null && suitability(other, placement) > own)
}

/** placement-3: a worker that is alone need not wait for another. */
const comesBack = (others: readonly WorkerPlace[], placement: Placement): boolean =>
  placement.sticky && others.some((other) => misfit(other, placement) === null)

/** A worker with its id in the ledger. */
export interface NamedWorker {
  readonly id: string
  readonly info: WorkerInfo
}

/** placement-4: the living workers that claim runs. A worker that drains or is paused has left its place to the next. */
export const takersOf = <One extends NamedWorker>(
  living: readonly One[],
  maxOf: (pool: string) => number | null,
): readonly One[] => {
  const places = new Map<string, number>()
  const isOlder = (a: One, b: One): number => a.info.startedAt - b.info.startedAt || (a.id < b.id ? -1 : 1)
  return living
    .filter(({ info }) => takesRuns(info))
    .sort(isOlder)
    .filter(({ info: { pool } }) => {
      if (pool === null) return true
      const place = places.get(pool) ?? 0
      places.set(pool, place + 1)
      return place < (maxOf(pool) ?? Infinity)
    })
}

/** The handlers whose runs a worker claims at once, and those that it leaves to others for a moment. `atOnce: null` means every handler. */
export interface Share {
  readonly atOnce: readonly string[] | null
  readonly later: readonly string[]
  /** Handlers whose runs it claims at once if it had them last, and leaves to others for a moment if not. */
  readonly returning: readonly string[]
}

export const shareOf = (
  worker: WorkerPlace,
  others: readonly WorkerPlace[],
  handlers: ReadonlyMap<string, Placement>,
): Share => {
  const fitting = [...handlers].filter(([, placement]) => misfit(worker, placement) === null)
  const later = fitting.filter(([, placement]) => isSecondChoice(worker, others, placement)).map(([name]) => name)
  const returning = fitting.filter(([, placement]) => comesBack(others, placement)).map(([name]) => name)
  const waiting = new Set([...later, ...returning])
  if (fitting.length === handlers.size && waiting.size === 0) return { atOnce: null, later, returning }
  return { atOnce: fitting.flatMap(([name]) => (waiting.has(name) ? [] : [name])), later, returning }
}
