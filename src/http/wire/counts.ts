/**
 * The counts of runs and open tasks on the wire: by status, and for one handler.
 *
 * Owns how far is counted, and that a number which is only a lower bound is marked as such (docs/decisions/0071, 0077).
 */
import { STATUSES } from '#http/documents/runs.ts'
import { OPEN } from '#http/documents/tasks.ts'
import type { GraphNode, RunCounts, TaskCounts as TaskCountsDocument } from '#http/openapi/api.ts'
import { type NewestCounts, sumsOf } from '#model/run/newest-counts.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { TaskCounts } from '#model/task/counts.ts'

/** Up to this number the runs or tasks of a status are counted exactly; beyond it the number is a lower bound. */
export const MOST_COUNTED = 5_000

export const countsDocument = ({ counts, more }: NewestCounts): RunCounts => {
  const sums = sumsOf(counts)
  const numbers = Object.fromEntries(STATUSES.map((status) => [status, sums.get(status) ?? 0]))
  return { ...(numbers as Omit<RunCounts, 'more'>), more: STATUSES.filter((status) => more.has(status)) }
}

export const taskCountsDocument = ({ counts, more }: TaskCounts): TaskCountsDocument => {
  const numbers = Object.fromEntries(OPEN.map((status) => [status, counts.get(status) ?? 0]))
  return { ...(numbers as Omit<TaskCountsDocument, 'more'>), more: OPEN.filter((status) => more.has(status)) }
}

/** The statuses that have runs, with their number as text. */
export const countTexts = ({ counts, more }: NewestCounts): readonly { status: RunStatus; count: string }[] => {
  const sums = sumsOf(counts)
  return STATUSES.filter((status) => sums.has(status)).map((status) => ({
    status,
    count: `${sums.get(status)}${more.has(status) ? '+' : ''}`,
  }))
}

type HandlerCounts = NonNullable<GraphNode['counts']>

/** Queued runs count as waiting, too: they wait for a worker. */
const WORK = {
  running: ['running', 'cancelling'],
  waiting: ['queued', 'waiting', 'paused'],
  failed: ['failed', 'expired', 'quarantined'],
} as const satisfies Record<string, readonly RunStatus[]>
const WORDS = ['running', 'waiting', 'failed'] as const

export const handlerCounts = ({ counts, more }: NewestCounts, handler: string): HandlerCounts => {
  const sums = sumsOf(counts, handler)
  const sum = (word: keyof typeof WORK): number =>
    WORK[word].reduce((total, status) => total + (sums.get(status) ?? 0), 0)
  return {
    running: sum('running'),
    waiting: sum('waiting'),
    failed: sum('failed'),
    more: WORDS.filter((word) => WORK[word].some((status) => more.has(status))),
  }
}
