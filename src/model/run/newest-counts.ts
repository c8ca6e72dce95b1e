/**
 * The number of runs by status and handler, among the newest of each status, as pages show it.
 *
 * Owns how counts are merged. If there are very many runs not all are counted: then the number is a lower bound, and `more` names the status.
 */
import type { RunStatus } from './status.ts'

export interface RunCount {
  readonly handler: string
  readonly status: RunStatus
  readonly count: number
}

export interface NewestCounts {
  readonly counts: readonly RunCount[]
  /** Statuses that may have older runs, which were not counted. */
  readonly more: ReadonlySet<RunStatus>
}

/** `parked`: the newest of each status, at most `most`. `held`: leased runs, which are few and therefore all counted. */
export const newestCounts = (parked: readonly RunCount[], held: readonly RunCount[], most: number): NewestCounts => {
  const more = [...sumsOf(parked)].filter(([, looked]) => looked >= most).map(([status]) => status)
  return { counts: [...parked, ...held], more: new Set(more) }
}

/** Sums by status, over one handler or all. */
export const sumsOf = (counts: readonly RunCount[], only: string | null = null): ReadonlyMap<RunStatus, number> => {
  const sums = new Map<RunStatus, number>()
  for (const { handler, status, count } of counts)
    if (only === null || handler === only) sums.set(status, (sums.get(status) ?? 0) + count)
  return sums
}
