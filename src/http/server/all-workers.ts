/** Reads the rows of all workers, page by page, and filters the living ones. */
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import type { Reader, WorkerSummary } from '#ports/reader.ts'

const AT_ONCE = 200
/** A worker without a heartbeat for this long is gone, even if its row is still there. */
const GONE_AFTER_MS = 30_000

export const livingWorkers = (workers: readonly WorkerSummary[], now: Instant): readonly WorkerSummary[] =>
  workers.filter(({ beatAt }) => now - beatAt < GONE_AFTER_MS)

export const allWorkers = async (reader: Pick<Reader, 'workers'>): Promise<readonly WorkerSummary[]> => {
  const found: WorkerSummary[] = []
  for (let after: WorkerId | null = null; ; ) {
    const page: readonly WorkerSummary[] = await reader.workers({ after, limit: AT_ONCE })
    found.push(...page)
    after = page.at(-1)?.id ?? null
    if (page.length < AT_ONCE) return found
  }
}
