/**
 * A hand-written ledger and the checker's verdict on it, for tests that plant one fault.
 *
 * Owns the temporary ledger's life. The verdict is the list of violations without their sentences, because prose may change.
 */
import { onTestFinished } from 'vitest'
import type { Invariant } from '#cli/verify/report.ts'
import { type VerifyOptions, verifyLedger } from '#cli/verify/verify.ts'
import { LedgerByHand, onSqlite } from '#test/support/stores/ledger-by-hand.ts'

export interface Verdict {
  readonly id: Invariant
  readonly stream: string | null
  readonly seq: number | null
}

/** An empty ledger in a file that is deleted after the test. */
export const aLedger = async (): Promise<LedgerByHand> => {
  const ledger = new LedgerByHand(await onSqlite())
  onTestFinished(() => ledger.close())
  return ledger
}

export const judge = async (ledger: LedgerByHand, options: VerifyOptions = {}): Promise<readonly Verdict[]> => {
  const { violations } = await verifyLedger(ledger.target, options)
  return violations.map(({ id, stream, seq }) => ({ id, stream, seq }))
}
