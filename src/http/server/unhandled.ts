/**
 * Counts due runs that no living worker can take: their handler does not exist any more, or their version does not and the pin is hard.
 *
 * Owns the count for health and metrics. The rule is model/worker/pin.ts. Placement is checked elsewhere (NO_WORKER).
 */
import { noHandlerFor } from '#model/worker/pin.ts'
import { takesRuns } from '#model/worker/worker-info.ts'
import type { DueRuns, WorkerSummary } from '#ports/reader.ts'

export interface Unhandled {
  readonly count: number
  /** One sentence about the handler that has waited longest. */
  readonly reason: string
}

/** Null: there are none, or no worker takes runs at all. */
export const unhandledRuns = (due: readonly DueRuns[], workers: readonly WorkerSummary[]): Unhandled | null => {
  const taking = workers.filter(({ info }) => info === null || takesRuns(info))
  const infos = taking.flatMap(({ info }) => info ?? [])
  if (infos.length === 0 || infos.length < taking.length) return null
  let [count, since, reason] = [0, Infinity, '']
  for (const line of due) {
    const text = noHandlerFor(line, infos)
    if (text === null) continue
    count += line.count
    if (line.since < since) [since, reason] = [line.since, text]
  }
  return count === 0 ? null : { count, reason }
}
