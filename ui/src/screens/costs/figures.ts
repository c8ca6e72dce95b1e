/** Money and counts as people read them. Unknown is never written as zero. */
const SMALL = 0.01

export const dollars = (amount: number | null): string => {
  if (amount === null) return 'unknown'
  if (amount > 0 && amount < SMALL) return `$${amount.toPrecision(2)}`
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

export const tokens = (count: number): string => count.toLocaleString('en-US')
