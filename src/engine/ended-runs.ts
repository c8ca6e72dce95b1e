/** Which of these runs have ended, and how: what a clerk asks about the runs it has started. */
import type { RunId } from '../model/ids.ts'
import { isEnded, type RunStatus } from '../model/status.ts'
import type { Ledger } from '../ports/ledger.ts'

export const endedRuns = async (
  ledger: Pick<Ledger, 'load'>,
  runs: readonly RunId[],
): Promise<readonly { readonly run: RunId; readonly status: RunStatus }[]> => {
  if (runs.length === 0) return []
  const heads = await ledger.load(runs, { after: Number.MAX_SAFE_INTEGER })
  return runs.flatMap((run, i) => {
    const status = heads[i]?.status
    return status !== undefined && isEnded(status) ? [{ run, status }] : []
  })
}
