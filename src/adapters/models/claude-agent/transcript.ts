/**
 * Reads a session's transcript: where it stopped, what it has cost; and inserts a result of ours.
 *
 * Owns how lines are read and repaired. Pure. Unknown lines pass through unchanged.
 *
 * transcript-1  A session resumes exactly where it stopped: nothing that was asked and answered before is requested again.
 */
import type { ModelUsage } from '#ports/model.ts'
import type { Entry, SdkBlock, SdkModelUse } from './sdk.ts'

export interface LeftCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** Where it stopped: before anything, in the middle, at a call that was left to us, or after its answer. */
export type Tail =
  | { readonly kind: 'empty' }
  | { readonly kind: 'open' }
  | { readonly kind: 'left'; readonly call: LeftCall; readonly model: string | null }
  | { readonly kind: 'answered'; readonly text: string; readonly model: string | null }

const LEFT = 'hook_deferred_tool'
const COST = 'cost-state'

const blocksOf = ({ message }: Entry): readonly SdkBlock[] => {
  const content = message?.content ?? []
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

const isSpoken = ({ type, message, isApiErrorMessage }: Entry): boolean =>
  (type === 'user' || type === 'assistant') && message !== undefined && isApiErrorMessage !== true

const modelOf = (entries: readonly Entry[]): string | null =>
  entries.findLast((entry) => entry.type === 'assistant' && isSpoken(entry))?.message?.model ?? null

/** The call that was left to us and has no result yet; null: there is none. */
export const leftCall = (entries: readonly Entry[]): LeftCall | null => {
  const marker = entries.findLast(({ attachment }) => attachment?.type === LEFT)?.attachment
  const id = marker?.toolUseID
  if (marker === undefined || id === undefined) return null
  const isAnswered = entries.some((entry) => blocksOf(entry).some(({ tool_use_id }) => tool_use_id === id))
  return isAnswered ? null : { id, name: marker.toolName ?? '', input: marker.toolInput ?? {} }
}

export const tailOf = (entries: readonly Entry[]): Tail => {
  const spoken = entries.filter(isSpoken)
  const last = spoken.at(-1)
  if (last === undefined) return { kind: 'empty' }
  const call = leftCall(entries)
  if (call !== null) return { kind: 'left', call, model: modelOf(entries) }
  if (last.type === 'user' || last.message?.id === undefined) return { kind: 'open' }
  // One answer is written as one line per block.
  const blocks = spoken.filter(({ message }) => message?.id === last.message?.id).flatMap(blocksOf)
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('')
  const isOpen = text === '' || blocks.some(({ type }) => type === 'tool_use')
  return isOpen ? { kind: 'open' } : { kind: 'answered', text, model: modelOf(entries) }
}

/** Removes the markers of calls left to us and of broken connections, and attaches what follows to the entry before. */
export const mended = (entries: readonly Entry[]): readonly Entry[] => {
  const gone = new Map<string, string | null>()
  const kept: Entry[] = []
  for (const entry of entries) {
    const parent = entry.parentUuid == null ? null : (gone.get(entry.parentUuid) ?? entry.parentUuid)
    const isGone = entry.attachment?.type === LEFT || entry.isApiErrorMessage === true
    if (isGone && entry.uuid !== undefined) gone.set(entry.uuid, parent)
    else kept.push(parent === (entry.parentUuid ?? null) ? entry : { ...entry, parentUuid: parent })
  }
  return kept
}

/** Adds the result of the call that was left to us, as the session itself would have written it. */
export const withResult = (
  entries: readonly Entry[],
  result: { readonly text: string; readonly isError: boolean },
  uuid: string,
): readonly Entry[] => {
  const call = leftCall(entries)
  const last = mended(entries).findLast((entry) => entry.uuid !== undefined && entry.type !== COST)
  if (call === null || last === undefined) return entries
  const { message: _message, attachment: _attachment, ...frame } = last
  const block = { type: 'tool_result', tool_use_id: call.id, content: result.text, is_error: result.isError }
  const message = { role: 'user', content: [block] }
  return [...entries, { ...frame, type: 'user', uuid, parentUuid: last.uuid ?? null, message }]
}

type Totals = Readonly<Record<string, SdkModelUse>>

const NOTHING: ModelUsage = { input: 0, output: 0, cachedInput: 0, cacheWrites: 0, reasoning: 0 }

const summed = (totals: Totals): ModelUsage =>
  Object.values(totals).reduce(
    (sum, use) => ({
      input: sum.input + use.inputTokens + use.cacheReadInputTokens + use.cacheCreationInputTokens,
      output: sum.output + use.outputTokens,
      cachedInput: sum.cachedInput + use.cacheReadInputTokens,
      cacheWrites: sum.cacheWrites + use.cacheCreationInputTokens,
      reasoning: 0,
    }),
    NOTHING,
  )

const combined = (a: ModelUsage, b: ModelUsage, sign: 1 | -1): ModelUsage => ({
  input: Math.max(0, a.input + sign * b.input),
  output: Math.max(0, a.output + sign * b.output),
  cachedInput: Math.max(0, a.cachedInput + sign * b.cachedInput),
  cacheWrites: Math.max(0, a.cacheWrites + sign * b.cacheWrites),
  reasoning: 0,
})

/** The session's usage when it last saved it. The SDK's totals continue from here when it is resumed. */
export const savedCost = (entries: readonly Entry[]): { readonly usage: ModelUsage; readonly usd: number } => {
  const saved = entries.findLast(({ type }) => type === COST)
  return { usage: summed(saved?.modelUsage ?? {}), usd: saved?.totalCostUSD ?? 0 }
}

/** The usage of answers after the last save: a lost attempt never saves. */
export const unsavedUsage = (entries: readonly Entry[]): ModelUsage => {
  const from = entries.findLastIndex(({ type }) => type === COST) + 1
  const byAnswer = new Map<string, ModelUsage>()
  for (const { type, message } of entries.slice(from))
    if (type === 'assistant' && message?.id !== undefined) byAnswer.set(message.id, usedBy(message.usage ?? {}))
  return [...byAnswer.values()].reduce((sum, use) => combined(sum, use, 1), NOTHING)
}

export const usedBy = (usage: NonNullable<NonNullable<Entry['message']>['usage']>): ModelUsage => {
  const [cached, written] = [usage.cache_read_input_tokens ?? 0, usage.cache_creation_input_tokens ?? 0]
  return {
    input: (usage.input_tokens ?? 0) + cached + written,
    output: usage.output_tokens ?? 0,
    cachedInput: cached,
    cacheWrites: written,
    reasoning: 0,
  }
}

/** The usage of this query, plus what a lost one before it had not saved. */
export const usageSince = (before: readonly Entry[], totals: Totals): ModelUsage =>
  combined(combined(summed(totals), savedCost(before).usage, -1), unsavedUsage(before), 1)

/** The usage between two states of a transcript, for an attempt that was lost before it reported totals. */
export const usageBetween = (before: readonly Entry[], now: readonly Entry[]): ModelUsage =>
  combined(combined(savedCost(now).usage, savedCost(before).usage, -1), unsavedUsage(now), 1)

export const parseLines = (text: string): readonly Entry[] =>
  text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Entry]
    } catch {
      // The last line of a process that was killed while it wrote.
      return []
    }
  })

export const linesOf = (entries: readonly Entry[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
