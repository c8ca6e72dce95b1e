/**
 * Reads the recorded steps of an agent for people: replies, calls, results, instructions, and how long each took.
 *
 * Owns the reading, which assumes nothing: the records may be of another version. Never calls a model or a tool.
 */
import { type ErrorCode, isErrorCode } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { RunFact } from '#model/run/fact.ts'

type Members = { readonly [name: string]: Json }

export interface JournaledCall {
  readonly key: string
  readonly tool: string
  readonly input: Json
}

export interface JournaledReply {
  readonly text: string
  readonly calls: readonly JournaledCall[]
}

const MODEL = 'agent/model['
/** Steps that belong to one call of a reply, under its key. */
const ABOUT_A_CALL = /^agent\/(?:tool|child|approval|question|loop|carve)\[(.+)\]$/

/** The recorded result of an agent's finished step; null: the fact is of another kind, or its value is stored as a blob. */
const journalIn = (fact: RunFact): Members | null => {
  if (fact.type !== 'step.completed' || !fact.step.startsWith('agent/') || !('value' in fact.result)) return null
  return isJsonRecord(fact.result.value) ? fact.result.value : null
}

const membersOf = (value: Json | undefined): Members => (isJsonRecord(value) ? value : {})
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
const wordOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** How long the work took, if the agent has measured it. */
export const durationIn = (fact: RunFact): number | null => {
  const journal = journalIn(fact)
  const ms = membersOf(journal?.['reply'])['ms'] ?? journal?.['ms']
  return typeof ms === 'number' && ms >= 0 ? ms : null
}

/** The failure in a step that is recorded as done: a model that did not answer, a tool that did not work. */
export const failureIn = (fact: RunFact): { readonly code: ErrorCode; readonly message: string } | null => {
  const journal = journalIn(fact)
  const failed = membersOf(journal?.['failure'] ?? journal?.['error'])
  const code = wordOf(failed['code'])
  return isErrorCode(code) ? { code, message: wordOf(failed['detail'] ?? failed['message']) } : null
}

const callOf = (value: Json): JournaledCall => {
  const { key, tool, input = null } = membersOf(value)
  return { key: wordOf(key), tool: wordOf(tool), input }
}

export const replyIn = (fact: RunFact): JournaledReply | null => {
  const reply = journalIn(fact)?.['reply']
  if (!isJsonRecord(reply) || !('step' in fact) || !fact.step.startsWith(MODEL)) return null
  const said = listOf(reply['parts']).map(membersOf)
  const text = said.filter(({ type }) => type === 'text').map((part) => wordOf(part['text']))
  return { text: text.join(''), calls: listOf(reply['calls']).map(callOf) }
}

const FINDINGS: Readonly<Record<string, string>> = {
  total_mismatch: 'The reported total of tokens is not the sum of its parts.',
  over_max_tokens: 'More tokens were reported than the answer may have: the limit counts.',
  too_few_tokens: 'Fewer tokens were reported than the answer needs: they are counted by its length.',
  cost_mismatch: 'The reported cost is off by more than a fifth: our price counts.',
  model_mismatch: 'Another model answered than the one that was asked.',
  impossible_usage: 'The reported tokens cannot be right: they are counted by length.',
}
const NOT_TOLD = 'The provider does not say how many tokens it used: they are counted by length.'
const COUNTED_ANEW = ['too_few_tokens', 'impossible_usage']

/** Irregularities in the token usage of a reply, as sentences. */
export const notesIn = (fact: RunFact): readonly string[] => {
  if (fact.type !== 'step.completed' || !fact.step.startsWith(MODEL)) return []
  const { result } = fact
  const reply = membersOf(membersOf('value' in result ? result.value : result.bill)['reply'])
  const findings = listOf(reply['findings']).map(wordOf)
  const isSilent = reply['usageSource'] === 'estimated' && !findings.some((word) => COUNTED_ANEW.includes(word))
  return [
    ...(isSilent && reply['isSimulated'] !== true ? [NOT_TOLD] : []),
    ...findings.map((word) => FINDINGS[word] ?? word),
  ]
}

/** The key of the call that a step belongs to; null: it belongs to none. */
export const callKeyOf = (step: string): string | null => ABOUT_A_CALL.exec(step)?.[1] ?? null

/** The output of a tool, or why it was denied or failed. */
export const outcomeIn = (fact: RunFact): { readonly key: string; readonly output: Json } | null => {
  const key = 'step' in fact && fact.step.startsWith('agent/tool[') ? callKeyOf(fact.step) : null
  const journal = journalIn(fact)
  if (key === null || journal === null) return null
  const { denied = null, error = null, output = null } = journal
  return { key, output: denied ?? error ?? output }
}

export interface Instructions {
  readonly system: string
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

export const instructionsIn = (fact: RunFact): Instructions | null => {
  if (!('step' in fact) || fact.step !== 'agent/hydrate') return null
  const journal = journalIn(fact)
  if (journal === null) return null
  const tools = listOf(journal['tools']).map(membersOf)
  return {
    system: wordOf(journal['system']),
    tools: tools.map(({ name, description }) => ({ name: wordOf(name), description: wordOf(description) })),
  }
}
