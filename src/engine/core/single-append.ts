/**
 * A single append with a promise of its outcome, for everything that is not a run in memory.
 *
 * Owns which error the caller gets when a store refuses or does not answer. Never retries a definite refusal.
 *
 * single-append-1  After an unknown outcome the caller is rejected in bounded time, but the append is sent again until the ledger answers;
 *             `late` receives that outcome.
 */
import type { TrihandError } from '#model/kernel/errors.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import type { AppendSource, Commit } from './commit.ts'

export const commitOnce = (
  commit: Commit,
  append: Append,
  late: (outcome: Outcome) => void = () => {},
): Promise<Outcome> => new Promise((resolve, reject) => commit.request(new SingleAppend(append, resolve, reject, late)))

class SingleAppend implements AppendSource {
  behind: AppendSource | null = null
  isWaiting = false
  isBusy = false
  readonly isNew = true
  private readonly append: Append
  private readonly reject: (error: TrihandError) => void
  private tell: (outcome: Outcome) => void
  private readonly late: (outcome: Outcome) => void

  constructor(
    append: Append,
    resolve: (outcome: Outcome) => void,
    reject: (error: TrihandError) => void,
    late: (outcome: Outcome) => void,
  ) {
    this.append = append
    this.tell = resolve
    this.reject = reject
    this.late = late
  }

  next(): Append {
    return this.append
  }

  settle(outcome: Outcome): void {
    this.tell(outcome)
  }

  /** single-append-1 */
  failed(error: TrihandError): 'keep' | 'drop' {
    this.tell = this.late
    this.reject(error)
    return error.outcome === 'unknown' ? 'keep' : 'drop'
  }
}
