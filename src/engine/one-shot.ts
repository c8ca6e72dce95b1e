/**
 * A single append and a promise of its outcome: for everything that is not a run in memory.
 *
 * Owns what the caller is told of a store that refuses or does not answer. Never retries a definite refusal.
 *
 * one-shot-1  A caller is not kept in doubt for ever, but the append is: it is sent again until the ledger answers, and `late` hears it.
 */
import type { TrihandError } from '../model/errors.ts'
import type { Append, Outcome } from '../ports/ledger.ts'
import type { AppendSource, Commit } from './commit.ts'

export const commitOnce = (
  commit: Commit,
  append: Append,
  late: (outcome: Outcome) => void = () => {},
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    let isTold = false
    const source: AppendSource = {
      isWaiting: false,
      isBusy: false,
      isNew: true,
      next: () => append,
      settle: (outcome) => (isTold ? late(outcome) : resolve(outcome)),
      failed: (error: TrihandError) => {
        isTold = true
        reject(error)
        return error.outcome === 'unknown' ? 'keep' : 'drop'
      },
    }
    commit.request(source)
  })
