/**
 * Counts of open tasks by status in some inboxes, for pages.
 *
 * Owns what a count means. A task may be in several inboxes and is counted once. If there are very many places, not all are looked at: then the
 * count is a lower bound, and `more` says so (docs/decisions/0071, 0077).
 */
import type { OpenStatus } from './spec.ts'

export interface TaskCounts {
  /** Only statuses that have tasks. */
  readonly counts: ReadonlyMap<OpenStatus, number>
  /** Statuses that may have more tasks, which were not looked at. */
  readonly more: ReadonlySet<OpenStatus>
}

/** The number of tasks of a status that were found in `looked` places. */
export interface LookedAt {
  readonly status: OpenStatus
  readonly count: number
  readonly looked: number
}

/** At most `most` places of each status were looked at. */
export const taskCounts = (found: readonly LookedAt[], most: number): TaskCounts => ({
  counts: new Map(found.filter(({ count }) => count > 0).map(({ status, count }) => [status, count])),
  more: new Set(found.filter(({ looked }) => looked >= most).map(({ status }) => status)),
})
