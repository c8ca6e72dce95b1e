/**
 * Parses scripts of the simulated model: from what an author writes to answers that can be looked up.
 *
 * Owns the shape of `scripts/<agent>.yaml` and rejects invalid ones at load. Never answers (scripted.ts).
 */
import { Liquid, type Template } from 'liquidjs'
import { RE2JS } from 're2js'
import { type ErrorCode, isErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { ModelUsage } from '#ports/model.ts'

export interface ScriptCall {
  readonly tool: string
  readonly input: Json
}

export type Saying =
  | { readonly kind: 'say'; readonly templates: readonly Template[] }
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'calls'; readonly calls: readonly ScriptCall[] }
  /** Never answers, like a provider that hangs. */
  | { readonly kind: 'hang' }

export interface ScriptEntry {
  readonly turn: number | null
  readonly contains: readonly string[]
  /** Texts that must all occur in the last message: what the user of a chat has just said. */
  readonly last: readonly string[]
  readonly match: RE2JS | null
  /** The last message must be this tool's result. */
  readonly after: string | null
  readonly saying: Saying
  readonly failFirst: { readonly attempts: number; readonly code: ErrorCode } | null
  readonly usage: Partial<ModelUsage>
  /** `length`: the answer was cut off. */
  readonly finish: 'length' | null
}

export interface Script {
  readonly agent: string
  readonly entries: readonly ScriptEntry[]
}

/** Templates can read the two roots only: no files, no inherited members. */
export const liquid = new Liquid({
  strictVariables: true,
  strictFilters: true,
  ownPropertyOnly: true,
  lenientIf: true,
  templates: {},
})

const KEYS: ReadonlySet<string> = new Set([
  'turn',
  'contains',
  'last',
  'match',
  'after',
  'say',
  'json',
  'calls',
  'hang',
  'fail_first',
  'usage',
  'finish',
])
const MAX_ENTRIES = 1_000

type Fields = { readonly [key: string]: Json }

const invalid = (agent: string, at: string, problem: string, cause?: unknown): TrihandError =>
  new TrihandError('SCRIPT_INVALID', `script of ${agent}, ${at}: ${problem}`, { cause })

const isFields = (value: Json | undefined): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const textList = (value: Json | undefined): readonly string[] | null => {
  if (value === undefined) return []
  const list = typeof value === 'string' ? [value] : value
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : null
}

const sayingOf = (agent: string, at: string, fields: Fields): Saying => {
  const given = ['say', 'json', 'calls', 'hang'].filter((key) => fields[key] !== undefined)
  if (given.length !== 1) throw invalid(agent, at, `expected one of say, json, calls and hang, found ${given.length}`)
  if (fields['hang'] !== undefined) return { kind: 'hang' }
  const { say, json, calls } = fields as { say?: Json; json?: Json; calls?: Json }
  if (json !== undefined) return { kind: 'json', value: json }
  if (say !== undefined) {
    if (typeof say !== 'string') throw invalid(agent, at, 'say must be a text')
    try {
      return { kind: 'say', templates: liquid.parse(say) }
    } catch (error) {
      throw invalid(agent, at, `say: ${error instanceof Error ? error.message : String(error)}`, error)
    }
  }
  const list = Array.isArray(calls) ? (calls as readonly Json[]) : []
  const read = list.map((call) => {
    if (!isFields(call) || typeof call['tool'] !== 'string') throw invalid(agent, at, 'a call must be {tool, input}')
    return { tool: call['tool'], input: call['input'] ?? {} }
  })
  if (read.length === 0) throw invalid(agent, at, 'calls must be a list of {tool, input}')
  return { kind: 'calls', calls: read }
}

const matchOf = (agent: string, at: string, match: Json | undefined): RE2JS | null => {
  if (match === undefined) return null
  if (typeof match !== 'string') throw invalid(agent, at, 'match must be a pattern')
  try {
    return RE2JS.compile(match)
  } catch (error) {
    throw invalid(agent, at, `match: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}

const failureOf = (agent: string, at: string, given: Json | undefined): ScriptEntry['failFirst'] => {
  if (given === undefined) return null
  const { attempts, code } = isFields(given) ? given : {}
  if (typeof attempts !== 'number' || typeof code !== 'string' || !isErrorCode(code))
    throw invalid(agent, at, 'fail_first must be {attempts, code} with an error code')
  return { attempts, code }
}

const usageOf = (given: Json | undefined): Partial<ModelUsage> => {
  if (!isFields(given)) return {}
  const counts = Object.entries(given).filter(([, count]) => typeof count === 'number')
  return Object.fromEntries(counts) as Partial<ModelUsage>
}

const entryOf = (agent: string, at: string, given: Json): ScriptEntry => {
  if (!isFields(given)) throw invalid(agent, at, 'an answer must be a map')
  const unknown = Object.keys(given).find((key) => !KEYS.has(key))
  if (unknown !== undefined) throw invalid(agent, at, `unknown key ${unknown}; expected ${[...KEYS].join(', ')}`)
  const { turn = null, after = null, finish = null } = given as { turn?: Json; after?: Json; finish?: Json }
  const [contains, last] = [textList(given['contains']), textList(given['last'])]
  if (turn !== null && !(typeof turn === 'number' && turn >= 1))
    throw invalid(agent, at, 'turn must be a number from 1')
  if (after !== null && typeof after !== 'string') throw invalid(agent, at, 'after must be the name of a tool')
  if (finish !== null && finish !== 'length') throw invalid(agent, at, 'finish must be length or absent')
  if (contains === null || last === null) throw invalid(agent, at, 'contains and last must be lists of texts')
  return {
    ...{ turn, after, contains, last, finish },
    match: matchOf(agent, at, given['match']),
    saying: sayingOf(agent, at, given),
    failFirst: failureOf(agent, at, given['fail_first']),
    usage: usageOf(given['usage']),
  }
}

const isCatchAll = ({ turn, contains, last, match, after }: ScriptEntry): boolean =>
  turn === null && contains.length + last.length === 0 && match === null && after === null

/** Throws SCRIPT_INVALID, which names the wrong entry. */
export const parseScript = (agent: string, given: Json): Script => {
  const answers = isFields(given) ? given['answers'] : undefined
  if (!Array.isArray(answers) || answers.length === 0 || answers.length > MAX_ENTRIES)
    throw invalid(agent, 'answers', `expected a list of 1 to ${MAX_ENTRIES} answers`)
  const entries = (answers as readonly Json[]).map((entry, index) => entryOf(agent, `answer ${index + 1}`, entry))
  const last = entries.findIndex(isCatchAll)
  if (last >= 0 && last < entries.length - 1)
    throw invalid(agent, `answer ${last + 2}`, `is never reached: answer ${last + 1} matches everything`)
  return { agent, entries }
}
