/** Every worker that beats, page by page. */
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import type { Reader, WorkerSummary } from '#ports/reader.ts'

const AT_ONCE = 200
/** A worker that has not beaten for so long is gone, whatever row it has left. */
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
