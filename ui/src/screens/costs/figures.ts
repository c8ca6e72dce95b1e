/** Formats money and counts. An unknown amount is never shown as zero. */
import type { Spent } from '../../api/documents.ts'

const SMALL = 0.01

export const dollars = (amount: number | null): string => {
  if (amount === null) return 'unknown'
  if (amount > 0 && amount < SMALL) return `$${amount.toPrecision(2)}`
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** The known cost, whether a part is unknown, and the reported but unverified cost. */
export const costOf = ({ cost_usd, unpriced_calls, unverified_usd }: Spent): string => {
  if (unpriced_calls === 0) return dollars(cost_usd)
  const unknown = cost_usd === null ? 'unknown' : `${dollars(cost_usd)} + unknown`
  return unverified_usd === null ? unknown : `${unknown} (${dollars(unverified_usd)} reported, unverified)`
}

/** The number of calls, and how many of them failed. */
export const callsOf = ({ calls, failed_calls }: Spent): string => {
  if (failed_calls === 0) return tokens(calls)
  return failed_calls === calls ? `${tokens(calls)} failed` : `${tokens(calls)}, ${tokens(failed_calls)} failed`
}

export const tokens = (count: number): string => count.toLocaleString('en-US')
