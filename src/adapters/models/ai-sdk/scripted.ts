/**
 * The simulated model: answers from scripts only. Its answers are labelled as simulated wherever they show.
 *
 * Owns the lookup. The same request gets the same answer: no memory, no randomness, no invented text. Never a fallback for a live call.
 *
 * scripted-1  A request that matches no entry gets no answer: the failure shows an entry ready to paste.
 */
import { createHash } from 'node:crypto'
import type { Json } from '#model/kernel/json.ts'
import type { Model, ModelAnswer, ModelReply, ModelRequest, ModelUsage, Part } from '#ports/model.ts'
import { liquid, parseScript, type Script, type ScriptEntry } from './script.ts'

const BYTES_PER_TOKEN = 4
const SHOWN = 200
const PIECE = 24
const HASH_DIGITS = 8

/** The part of a request that entries are matched against. */
interface Situation {
  readonly turn: number
  readonly text: string
  readonly last: string
  /** The tools whose results the last message holds, with their outputs. */
  readonly after: readonly { readonly tool: string; readonly output: Json }[]
}

const partText = (part: Part): string => {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'call':
      return JSON.stringify(part.input)
    case 'result':
      return typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
    case 'file':
      return ''
  }
}

/** Tool results reach a model inside a data block; a script reads the content of the block. */
const unwrapped = (output: Json): Json => {
  if (typeof output !== 'string' || !output.startsWith('<data id=')) return output
  const inside = output.split('\n').slice(1, -1).join('\n')
  try {
    return JSON.parse(inside) as Json
  } catch {
    return inside
  }
}

const situationOf = ({ messages }: ModelRequest): Situation => ({
  turn: messages.filter(({ role }) => role === 'assistant').length + 1,
  text: messages.flatMap(({ parts }) => parts.map(partText)).join('\n'),
  last: (messages.at(-1)?.parts ?? []).map(partText).join('\n'),
  after: (messages.at(-1)?.parts ?? []).flatMap((part) =>
    part.type === 'result' ? [{ tool: part.tool, output: unwrapped(part.output) }] : [],
  ),
})

/** Compares a tool's name as its author wrote it with its name on the wire. */
const sameTool = (a: string, b: string): boolean => a === b || a === b.replaceAll(/[^A-Za-z0-9_-]/g, '__')

interface Found {
  readonly entry: ScriptEntry
  readonly groups: readonly string[]
}

const groupsOf = (entry: ScriptEntry, text: string): readonly string[] | null => {
  if (entry.match === null) return []
  const matcher = entry.match.matcher(text)
  if (!matcher.find()) return null
  return Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? '')
}

const fits = (entry: ScriptEntry, { turn, text, last, after }: Situation): Found | null => {
  if (entry.turn !== null && entry.turn !== turn) return null
  if (!entry.contains.every((part) => text.includes(part))) return null
  if (!entry.last.every((part) => last.includes(part))) return null
  if (entry.after !== null && !after.some(({ tool }) => sameTool(tool, entry.after ?? ''))) return null
  const groups = groupsOf(entry, text)
  return groups === null ? null : { entry, groups }
}

const find = (script: Script | undefined, situation: Situation): Found | null => {
  for (const entry of script?.entries ?? []) {
    const found = fits(entry, situation)
    if (found !== null) return found
  }
  return null
}

const failed = (code: Extract<ReplyFailure, string>, detail: string): ModelReply => ({
  kind: 'failed',
  code,
  detail,
  retryAfterMs: null,
  usage: null,
  text: null,
})
type ReplyFailure = Extract<ModelReply, { readonly kind: 'failed' }>['code']

/** scripted-1. */
const noScript = (agent: string, { turn, text, after }: Situation): ModelReply => {
  const condition = after[0] === undefined ? `turn: ${turn}` : `after: ${after[0].tool}`
  const paste = `- ${condition}\n  say: "..."`
  const last = text.slice(-SHOWN)
  return failed(
    'SIMULATED_NO_SCRIPT',
    `agent ${agent}, turn ${turn} has no scripted answer. The request ends with: ${last}\nAdd to its script:\n${paste}`,
  )
}

const tokens = (text: string): number => Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN)

const usageOf = (request: ModelRequest, parts: readonly Part[], entry: ScriptEntry): ModelUsage => ({
  input: tokens(JSON.stringify([request.system, request.messages, request.tools])),
  output: tokens(JSON.stringify(parts)),
  cachedInput: 0,
  cacheWrites: 0,
  reasoning: 0,
  ...entry.usage,
})

/** Leaves `result` out if there is none, so that a template that reads it fails. */
const rootsOf = (m: readonly string[], after: Situation['after']): object => {
  const last = after.at(-1)
  return last === undefined ? { m } : { m, result: last.output }
}

const partsOf = ({ entry, groups }: Found, { after }: Situation): readonly Part[] => {
  const { saying } = entry
  switch (saying.kind) {
    case 'say':
      return [{ type: 'text', text: liquid.renderSync([...saying.templates], rootsOf(groups, after)) }]
    case 'hang':
      return []
    case 'json':
      return [{ type: 'text', text: JSON.stringify(saying.value) }]
    case 'calls':
      return saying.calls.map(({ tool, input }, index) => ({ type: 'call', id: `sim_${index}`, tool, input }))
  }
}

const stream = (parts: readonly Part[], { onChunk }: ModelRequest): void => {
  if (onChunk === undefined) return
  for (const part of parts) {
    if (part.type === 'call') onChunk({ type: 'call', id: part.id, tool: part.tool })
    if (part.type !== 'text') continue
    for (let at = 0; at < part.text.length; at += PIECE)
      onChunk({ type: 'text', text: part.text.slice(at, at + PIECE) })
  }
}

const givenUp = ({ reason }: AbortSignal): ModelReply =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? failed('MODEL_TIMEOUT', 'no answer in time')
    : failed('STEP_ABORTED', 'the call was cancelled')

const silence = (signal: AbortSignal): Promise<ModelReply> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(givenUp(signal)), { once: true })
  })

export class ScriptedModel implements Model {
  private readonly scripts: ReadonlyMap<string, { readonly script: Script; readonly hash: string }>

  /** Throws SCRIPT_INVALID. */
  constructor(scripts: ReadonlyMap<string, Json>) {
    const parsed = [...scripts].map(([agent, given]) => {
      const hash = createHash('sha256').update(JSON.stringify(given)).digest('hex').slice(0, HASH_DIGITS)
      return [agent, { script: parseScript(agent, given), hash }] as const
    })
    this.scripts = new Map(parsed)
  }

  async call(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    if (signal.aborted) return givenUp(signal)
    const agent = request.purpose.replace(/^agent:/, '')
    const situation = situationOf(request)
    const known = this.scripts.get(agent)
    const found = find(known?.script, situation)
    if (found === null) return noScript(agent, situation)
    const { failFirst } = found.entry
    if (failFirst !== null && request.attempt <= failFirst.attempts)
      return failed(failFirst.code, `the script fails attempt ${request.attempt}`)
    if (found.entry.saying.kind === 'hang') return silence(signal)
    try {
      return this.answer(request, found, situation, `simulated/${agent}@${known?.hash ?? ''}`)
    } catch (error) {
      return failed('SIMULATED_NO_SCRIPT', error instanceof Error ? error.message : String(error))
    }
  }

  private answer(request: ModelRequest, found: Found, situation: Situation, modelUsed: string): ModelAnswer {
    const parts = partsOf(found, situation)
    stream(parts, request)
    const calls = parts.flatMap((part) =>
      part.type === 'call' ? [{ id: part.id, tool: part.tool, input: part.input }] : [],
    )
    return {
      kind: 'reply',
      parts,
      calls,
      finish: found.entry.finish ?? (calls.length > 0 ? 'tools' : 'stop'),
      usage: usageOf(request, parts, found.entry),
      modelUsed,
      responseId: null,
      warnings: [],
      simulated: true,
    }
  }
}
