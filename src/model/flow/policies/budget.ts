/**
 * Tokens and money that an agent may still use: reserved before a call, settled after it, divided among children.
 *
 * Owns the arithmetic. Money is whole micro-dollars. Prices and sizes arrive as arguments.
 *
 * budget-1  A call begins only if the most that it could use still fits.
 * budget-2  A child's allowance is taken from its parent until the child has ended; then the unused rest comes back.
 */

/** Null: not limited. */
export interface Allowance {
  readonly tokens: number
  readonly micros: number | null
}

export interface Spent {
  readonly tokens: number
  readonly micros: number
  /** Part of it is an estimate: an attempt whose answer was lost counts with its whole reservation. */
  readonly isEstimated: boolean
}

export const NOTHING_SPENT: Spent = { tokens: 0, micros: 0, isEstimated: false }

/** The most that a call would use. */
export interface Reservation {
  readonly tokens: number
  readonly micros: number
  readonly maxOutputTokens: number
}

export type ReserveAnswer =
  | { readonly kind: 'go'; readonly reservation: Reservation }
  | { readonly kind: 'refused'; readonly code: 'BUDGET_EXCEEDED' | 'BUDGET_UNPRICED'; readonly detail: string }

export interface Ask {
  readonly requestBytes: number
  readonly maxOutputTokens: number
  /** The list price of these tokens in micro-dollars; null: it is not known. */
  price(input: number, output: number): number | null
}

const BYTES_PER_TOKEN = 3
/** A call for a shorter answer than this is not worth making. */
const LEAST_OUTPUT = 256

/** Conservative: no request has more tokens than a third of its bytes, in any script that we have met. */
export const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

export const spend = (spent: Spent, tokens: number, micros: number, isEstimated = false): Spent => ({
  tokens: spent.tokens + tokens,
  micros: spent.micros + micros,
  isEstimated: spent.isEstimated || isEstimated,
})

/** Never negative: use beyond the allowance leaves no debt. */
export const restOf = (allowance: Allowance, spent: Spent): Allowance => ({
  tokens: Math.max(0, allowance.tokens - spent.tokens),
  micros: allowance.micros === null ? null : Math.max(0, allowance.micros - spent.micros),
})

/** Returns the length of the longest answer whose tokens and price fit the rest. */
const affordable = (rest: Allowance, input: number, ask: Ask): number => {
  const byTokens = Math.min(ask.maxOutputTokens, rest.tokens - input)
  const { micros } = rest
  if (micros === null) return byTokens
  const fits = (output: number): boolean => (ask.price(input, output) ?? Number.POSITIVE_INFINITY) <= micros
  if (byTokens <= 0 || fits(byTokens)) return byTokens
  // Prices never fall with more tokens, so bisection finds the limit.
  let [low, high] = [0, byTokens]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

const dollars = (micros: number): string => `$${(micros / 1_000_000).toFixed(6)}`
const restText = ({ tokens, micros }: Allowance): string =>
  `${tokens} tokens${micros === null ? '' : ` and ${dollars(micros)}`} are left`

/** budget-1. Shortens the answer before it refuses the call. */
export const reserve = (rest: Allowance, ask: Ask): ReserveAnswer => {
  const input = tokensOf(ask.requestBytes)
  if (rest.micros !== null && ask.price(input, ask.maxOutputTokens) === null)
    return {
      kind: 'refused',
      code: 'BUDGET_UNPRICED',
      detail: 'max_cost_usd is set, but the price of the model is unknown',
    }
  const output = affordable(rest, input, ask)
  if (output < Math.min(LEAST_OUTPUT, ask.maxOutputTokens)) {
    const detail = `the request needs about ${input} tokens plus an answer; ${restText(rest)}`
    return { kind: 'refused', code: 'BUDGET_EXCEEDED', detail }
  }
  const micros = ask.price(input, output) ?? 0
  return { kind: 'go', reservation: { tokens: input + output, micros, maxOutputTokens: output } }
}

/** budget-2: returns a child's own allowance: the requested one, or its fair part, never more than the rest. */
export const carve = (rest: Allowance, asked: Partial<Allowance>, sharers: number): Allowance => {
  const parts = Math.max(1, sharers)
  const fair = (whole: number): number => Math.floor(whole / parts)
  const tokens = Math.min(rest.tokens, Math.max(0, Math.floor(asked.tokens ?? fair(rest.tokens))))
  if (rest.micros === null) return { tokens, micros: asked.micros ?? null }
  return { tokens, micros: Math.min(rest.micros, Math.max(0, Math.floor(asked.micros ?? fair(rest.micros)))) }
}
