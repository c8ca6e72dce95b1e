/** Costs of models on the wire: in dollars, and null if the price is unknown. */
import type { CostRow as CostRowDocument, Spent as SpentDocument } from '#http/openapi/api.ts'
import { type CostRow, DAY_MS, type Spent } from './cost-totals.ts'
import { isoTime } from './time.ts'

const MICROS = 1_000_000

export const dayText = (day: number): string => isoTime(day * DAY_MS).slice(0, 10)

export const spentDocument = ({
  calls,
  inputTokens,
  outputTokens,
  micros,
  unpricedCalls,
  unpricedTokens,
  failedCalls,
  unverifiedMicros,
}: Spent): SpentDocument => ({
  calls,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  // An unknown cost is null, never zero.
  cost_usd: calls > 0 && unpricedCalls === calls ? null : micros / MICROS,
  unpriced_calls: unpricedCalls,
  unpriced_tokens: unpricedTokens,
  failed_calls: failedCalls,
  unverified_usd: unverifiedMicros === 0 ? null : unverifiedMicros / MICROS,
})

export const costDocument = (row: Spent & Partial<CostRow>): CostRowDocument => ({
  day: row.day === undefined ? null : dayText(row.day),
  agent: row.agent ?? null,
  model: row.model ?? null,
  simulated: row.isSimulated ?? false,
  ...spentDocument(row),
})
