/**
 * Finds which of a coordinator's runs have ended, and their status.
 *
 * Owns the query, in batches: a gate may track thousands of runs.
 */
import type { RunId } from '#model/kernel/ids.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'
import type { Ledger } from '#ports/ledger.ts'

export const endedRuns = async (
  ledger: Pick<Ledger, 'load'>,
  runs: readonly RunId[],
): Promise<readonly { readonly run: RunId; readonly status: RunStatus }[]> => {
  const ended: { readonly run: RunId; readonly status: RunStatus }[] = []
  for (let from = 0; from < runs.length; from += PART) {
    const some = runs.slice(from, from + PART)
    const heads = await ledger.load(some, { after: Number.MAX_SAFE_INTEGER })
    some.forEach((run, i) => {
      const status = heads[i]?.status
      if (status !== undefined && isEnded(status)) ended.push({ run, status })
    })
  }
  return ended
}

const PART = 500
