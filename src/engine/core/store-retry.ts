/**
 * Retries work that fails because of the store, until the store answers.
 *
 * Owns the difference between trouble with the store and a failure of the work itself, and the pauses between tries.
 *
 * store-retry-1  No step and no run fails because the ledger was full, unavailable or contended; its result waits in memory and is sent again.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'

type Deps = { readonly clock: Clock; readonly ids: Pick<Ids, 'roll'> }

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const TROUBLES: ReadonlySet<string> = new Set([
  'LEDGER_UNAVAILABLE',
  'LEDGER_CONFLICT',
  'STORAGE_FULL',
  'LEDGER_MISSING',
])

/** Waits longer after every try, with jitter, so that many callers of one store do not retry together. */
export const pauseAfter = ({ clock, ids }: Deps, tries: number): Promise<void> => {
  const bound = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries)
  const ms = Math.ceil(bound * (0.5 + ids.roll() / 2))
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve)
  })
}

export const isStoreTrouble = (error: unknown): boolean =>
  error instanceof TrihandError && (TROUBLES.has(error.code) || error.outcome === 'unknown')

/** This process writes nothing any more (commit-8). */
export const isShutDown = (error: unknown): boolean => error instanceof TrihandError && error.code === 'SHUTTING_DOWN'

/** Never settles if `isWanted` is false after a failure of the store. */
export const retryStore = async <T>(deps: Deps, isWanted: () => boolean, work: () => T | Promise<T>): Promise<T> => {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isStoreTrouble(error)) throw error
    }
    if (!isWanted()) return new Promise<T>(() => {})
    await pauseAfter(deps, tries)
  }
}
