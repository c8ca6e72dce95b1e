/**
 * The number of open runs that are pinned to each definition of the system, among the newest of each status.
 *
 * Owns how counts are merged. If there are very many runs not all are counted: then the number is a lower bound, and `more` says so.
 */
import type { RunStatus } from '#model/run/status.ts'

export interface PinnedRuns {
  /** The hash of the definition. */
  readonly hash: string
  readonly count: number
  readonly more: boolean
}

/** `status`: null for leased runs; they are few, and all of them are counted. */
export interface PinnedCount {
  readonly hash: string
  readonly status: RunStatus | null
  readonly count: number
}

export const pinnedRuns = (counts: readonly PinnedCount[], most: number): readonly PinnedRuns[] => {
  const looked = new Map<RunStatus | null, number>()
  for (const { status, count } of counts) looked.set(status, (looked.get(status) ?? 0) + count)
  const sums = new Map<string, PinnedRuns>()
  for (const { hash, status, count } of counts) {
    const before = sums.get(hash)
    const more = before?.more === true || (status !== null && (looked.get(status) ?? 0) >= most)
    sums.set(hash, { hash, count: (before?.count ?? 0) + count, more })
  }
  return [...sums.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1))
}
