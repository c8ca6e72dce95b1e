/**
 * A single append and a promise of its outcome: for everything that is not a run in memory.
 *
 * Owns the translation of a refused store into an error for the caller. Never retries a definite refusal.
 */
import type { TrihandError } from '../model/errors.ts'
import type { Append, Outcome } from '../ports/ledger.ts'
import type { AppendSource, Commit } from './commit.ts'

export const commitOnce = (commit: Commit, append: Append): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const source: AppendSource = {
      next: () => append,
      settle: resolve,
      failed: (error: TrihandError) => {
        reject(error)
        return 'drop'
      },
    }
    commit.request(source)
  })
