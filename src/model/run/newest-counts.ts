/**
 * How many runs there are of each status and handler, of the newest of each status: what pages show.
 *
 * Owns how counts are put together. Of very many runs not all are looked at: then there are at least so many, and `more` says so.
 */
import type { RunStatus } from './status.ts'

export interface RunCount {
  readonly handler: string
  readonly status: RunStatus
  readonly count: number
}

export interface NewestCounts {
  readonly counts: readonly RunCount[]
  /** Statuses that may have older runs, which were not looked at. */
  readonly more: ReadonlySet<RunStatus>
}

/** `parked`: the newest of each status, at most `most`. Runs that somebody holds are few: all of them are `held`. */
export const newestCounts = (parked: readonly RunCount[], held: readonly RunCount[], most: number): NewestCounts => {
  const more = [...sumsOf(parked)].filter(([, looked]) => looked >= most).map(([status]) => status)
  return { counts: [...parked, ...held], more: new Set(more) }
}

/** By status: of one handler, or of all. */
export const sumsOf = (counts: readonly RunCount[], only: string | null = null): ReadonlyMap<RunStatus, number> => {
  const sums = new Map<RunStatus, number>()
  for (const { handler, status, count } of counts)
    if (only === null || handler === only) sums.set(status, (sums.get(status) ?? 0) + count)
  return sums
}
