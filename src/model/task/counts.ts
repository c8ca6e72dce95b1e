/**
 * How many open tasks there are of each status, in some inboxes: what pages show.
 *
 * Owns what a count means. A task may stand in several inboxes and is counted once. Of very many places not all are looked at: then there
 * are at least so many tasks, and `more` says so (docs/decisions/0071, 0077).
 */
import type { OpenStatus } from './spec.ts'

export interface TaskCounts {
  /** Statuses that there are tasks of. */
  readonly counts: ReadonlyMap<OpenStatus, number>
  /** Statuses of which there may be more tasks, which were not looked at. */
  readonly more: ReadonlySet<OpenStatus>
}

/** How many tasks of a status were found in so many places. */
export interface LookedAt {
  readonly status: OpenStatus
  readonly count: number
  readonly looked: number
}

/** Of each status at most `most` places were looked at. */
export const taskCounts = (found: readonly LookedAt[], most: number): TaskCounts => ({
  counts: new Map(found.filter(({ count }) => count > 0).map(({ status, count }) => [status, count])),
  more: new Set(found.filter(({ looked }) => looked >= most).map(({ status }) => status)),
})
