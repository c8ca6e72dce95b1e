/**
 * The usage that an executor reports, and how much of it is accepted.
 *
 * Owns the four checks of a report, which models count as allowed, and our own figure where a report does not hold. Does not know prices: they
 * arrive as a function. Money is in whole micro-dollars, except the executor's own estimate, which is in dollars.
 *
 * usage-1  The figure that counts is ours: tokens that add up, money from our own price.
 * usage-2  A report that fails a check is disputed, and the findings say why.
 */

/** Usage as the executor reports it. */
export interface Usage {
  readonly tokensInput: number
  readonly tokensOutput: number
  readonly totalTokens: number
  /** Dollars; null: the executor does not know. */
  readonly estimatedCost: number | null
  /** Parts of the input tokens: read from the provider's cache, and written to it. They have prices of their own. */
  readonly cachedInput?: number
  readonly cacheWrites?: number
}

export type UsageFinding =
  | 'total_mismatch'
  | 'over_max_tokens'
  | 'too_few_tokens'
  | 'cost_mismatch'
  | 'model_mismatch'
  /** Negative numbers, or more input tokens than were sent. */
  | 'impossible_usage'

/** Usage as it counts. */
export interface VerifiedUsage {
  readonly tokensInput: number
  readonly tokensOutput: number
  readonly totalTokens: number
  /** Micro-dollars by our price; null: unknown, which is not zero. */
  readonly cost: number | null
  /** If the price is unknown: the cost in micro-dollars that the report states, which was not checked. */
  readonly unverified?: number
  readonly source: 'reported' | 'estimated'
  readonly findings: readonly UsageFinding[]
}

/** Micro-dollars for these tokens of this model; null: its price is unknown. */
export type PriceOf = (model: string, tokens: PricedTokens) => number | null

export interface PricedTokens {
  readonly input: number
  readonly output: number
  /** Parts of the input. */
  readonly cachedInput: number
  readonly cacheWrites: number
}

export interface UsageReport {
  readonly usage: Usage | null
  readonly modelUsed: string | null
  /** The requested model, if there was one. */
  readonly modelAsked: string | null
  readonly inputBytes: number
  readonly outputBytes: number
  readonly maxTokens: number | null
  /** The upper limit of the input tokens; null: the input of the model was not seen. */
  readonly mostInput: number | null
}

const MICROS = 1_000_000
const BYTES_PER_TOKEN = 4
/** No tokenizer packs more bytes than this into one token. */
const MAX_BYTES_PER_TOKEN = 16
const TOLERANCE = 0.2

export const NO_USAGE: VerifiedUsage = {
  tokensInput: 0,
  tokensOutput: 0,
  totalTokens: 0,
  cost: 0,
  source: 'reported',
  findings: [],
}

const estimate = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

const outputFindings = ({ usage, outputBytes, maxTokens }: UsageReport & { readonly usage: Usage }): UsageFinding[] => [
  ...(usage.totalTokens === usage.tokensInput + usage.tokensOutput ? [] : ['total_mismatch' as const]),
  ...(maxTokens !== null && usage.tokensOutput > maxTokens ? ['over_max_tokens' as const] : []),
  ...(usage.tokensOutput < outputBytes / MAX_BYTES_PER_TOKEN ? ['too_few_tokens' as const] : []),
]

/** A reported cost in micro-dollars; null: none was reported, or it is impossible. */
export const microsOf = (dollars: number | null | undefined): number | null =>
  typeof dollars === 'number' && Number.isFinite(dollars) && dollars >= 0 ? Math.round(dollars * MICROS) : null

const isPossible = (
  { tokensInput, tokensOutput, cachedInput = 0, cacheWrites = 0 }: Usage,
  { mostInput }: UsageReport,
): boolean =>
  [tokensInput, tokensOutput, cachedInput, cacheWrites].every((count) => Number.isSafeInteger(count) && count >= 0) &&
  (mostInput === null || tokensInput <= mostInput)

/** More tokens than allowed, or fewer than the text needs, cannot have been used. */
const believedOutput = (report: UsageReport & { readonly usage: Usage }, findings: readonly UsageFinding[]): number => {
  if (findings.includes('too_few_tokens')) return estimate(report.outputBytes)
  return findings.includes('over_max_tokens') ? (report.maxTokens as number) : report.usage.tokensOutput
}

const isCostOff = (cost: number | null, { estimatedCost }: Usage): boolean => {
  if (cost === null || estimatedCost === null) return false
  const told = estimatedCost * MICROS
  return Math.abs(told - cost) > TOLERANCE * Math.max(cost, 1)
}

/** True for the same id and for its dated forms, such as `claude-x-20250929` and `gpt-x-2025-09-29`. */
export const isSameModel = (used: string, asked: string): boolean =>
  used === asked || (used.startsWith(`${asked}-`) && /^(\d{8}|\d{4}-\d{2}-\d{2})$/.test(used.slice(asked.length + 1)))

/** Without a list every model is allowed. */
export const isAllowedModel = (used: string, allowed: readonly string[] | undefined): boolean =>
  allowed === undefined || allowed.some((model) => isSameModel(used, model))

/** The usage that counts. An executor without a model that reports nothing has used nothing. */
export const verifyUsage = (report: UsageReport, price: PriceOf): VerifiedUsage => {
  const { usage, modelUsed, modelAsked } = report
  if (modelUsed === null && (usage === null || usage.totalTokens === 0)) return NO_USAGE
  const isOther = modelUsed !== null && modelAsked !== null && !isSameModel(modelUsed, modelAsked)
  const findings: UsageFinding[] = isOther ? ['model_mismatch'] : []
  const priced = (tokens: PricedTokens): number | null => (modelUsed === null ? null : price(modelUsed, tokens))
  if (usage === null || !isPossible(usage, report)) {
    if (usage !== null) findings.push('impossible_usage')
    const [input, output] = [estimate(report.inputBytes), estimate(report.outputBytes)]
    const cost = priced({ input, output, cachedInput: 0, cacheWrites: 0 })
    const tokens = { tokensInput: input, tokensOutput: output, totalTokens: input + output }
    return { ...tokens, cost, source: 'estimated', findings }
  }
  findings.push(...outputFindings({ ...report, usage }))
  const { tokensInput, cachedInput = 0, cacheWrites = 0 } = usage
  const tokensOutput = believedOutput({ ...report, usage }, findings)
  const cost = priced({ input: tokensInput, output: tokensOutput, cachedInput, cacheWrites })
  if (isCostOff(cost, usage)) findings.push('cost_mismatch')
  const source = findings.includes('too_few_tokens') ? 'estimated' : 'reported'
  const told = cost === null ? microsOf(usage.estimatedCost) : null
  const counted = {
    tokensInput,
    tokensOutput,
    totalTokens: tokensInput + tokensOutput,
    cost,
    source,
    findings,
  } as const
  return told === null ? counted : { ...counted, unverified: told }
}

/** The usage of several attempts together; if one price is unknown, so is the sum. */
export const addUsage = (a: VerifiedUsage, b: VerifiedUsage): VerifiedUsage => ({
  tokensInput: a.tokensInput + b.tokensInput,
  tokensOutput: a.tokensOutput + b.tokensOutput,
  totalTokens: a.totalTokens + b.totalTokens,
  cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
  ...(a.unverified === undefined && b.unverified === undefined
    ? {}
    : { unverified: (a.unverified ?? a.cost ?? 0) + (b.unverified ?? b.cost ?? 0) }),
  source: a.source === 'estimated' ? a.source : b.source,
  findings: [...new Set([...a.findings, ...b.findings])],
})
