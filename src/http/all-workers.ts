/** Every worker that beats, page by page. */
import type { WorkerId } from '../model/ids.ts'
import type { Reader, WorkerSummary } from '../ports/reader.ts'

const AT_ONCE = 200

export const allWorkers = async (reader: Pick<Reader, 'workers'>): Promise<readonly WorkerSummary[]> => {
  const found: WorkerSummary[] = []
  for (let after: WorkerId | null = null; ; ) {
    const page: readonly WorkerSummary[] = await reader.workers({ after, limit: AT_ONCE })
    found.push(...page)
    after = page.at(-1)?.id ?? null
    if (page.length < AT_ONCE) return found
  }
}
