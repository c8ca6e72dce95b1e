/**
 * Reads a sentence as a plan, without a model: the text of a plan, the goal of a declared plan, or the name of one handler.
 *
 * Owns which words are understood. Never guesses: if words are left over, the answer is a question.
 *
 * english-1  Every word of a sentence is a word of what was declared, or is in quotes where the declared goal has quotes.
 */
import type { System } from '#manifest/define/system.ts'
import { handlersIn } from '#manifest/plan/reading.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type { PlanStepSource } from '#model/plan/source.ts'
import { readPlanText, slugOf } from '#model/plan/text.ts'

export type EnglishReading =
  /** The plan as text, or the steps of a declared plan. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'steps'; readonly steps: readonly PlanStepSource[] }
  | { readonly kind: 'question'; readonly question: string }

type Known = Pick<System, 'functions' | 'chats'>

const namesIn = ({ functions, chats }: Known): readonly string[] => [...handlersIn(functions, chats.keys()).keys()]

const QUOTED = /"([^"]*)"|“([^”]*)”/g
const MAX_OPTIONS = 8

interface Sentence {
  /** Its words in lower case, with a quotation mark in place of each quotation. */
  readonly words: string
  readonly quoted: readonly string[]
}

const sentenceOf = (text: string): Sentence => {
  const quoted = [...text.matchAll(QUOTED)].map(([, plain, curled]) => plain ?? curled ?? '')
  const words = text
    .replaceAll(QUOTED, ' " ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}"]+/u)
    .filter((word) => word !== '')
    .join(' ')
  return { words, quoted }
}

/** Replaces the quoted texts of the declared plan by those of the sentence. */
const saidAnew = (value: Json, pairs: readonly (readonly [string, string])[]): Json => {
  if (typeof value === 'string')
    return pairs.reduce((text, [from, to]) => (from === '' ? text : text.replaceAll(from, () => to)), value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((one: Json) => saidAnew(one, pairs))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, key === 'id' ? one : saidAnew(one, pairs)] as const),
  )
}

const declaredFor = (english: string, { functions }: Known): EnglishReading | null => {
  const asked = sentenceOf(english)
  for (const { workflow } of functions.values()) {
    const { plan } = workflow
    const known = sentenceOf(plan?.goal ?? '')
    // english-1
    if (plan === null || known.words === '' || known.words !== asked.words) continue
    const pairs = known.quoted.map((from, i) => [from, asked.quoted[i] ?? from] as const)
    return { kind: 'steps', steps: saidAnew(toJson(plan.written), pairs) as unknown as readonly PlanStepSource[] }
  }
  return null
}

const inWords = (name: string): string => name.replaceAll(/[-_]+/g, ' ')

const questionOf = (english: string, system: Known): EnglishReading => {
  const goals = [...system.functions.values()].flatMap(({ workflow }) => workflow.plan?.goal || [])
  const known = [...goals, ...namesIn(system).map(inWords)].slice(0, MAX_OPTIONS)
  const options = known.length === 0 ? 'this system declares no sentences' : `known sentences: ${known.join(' · ')}`
  return {
    kind: 'question',
    question: `which steps does "${english.trim()}" have? No known sentence matches; ${options}`,
  }
}

export const readEnglish = (english: string, system: Known): EnglishReading => {
  const text = readPlanText(english)
  if (text.kind === 'steps' && text.steps.length > 0) return { kind: 'text', text: english }
  const declared = declaredFor(english, system)
  if (declared !== null) return declared
  const line = english.trim().replace(/[.!]$/, '')
  const slug = slugOf({ name: line })
  const isKnown = namesIn(system).some((name) => name.replaceAll('_', '-') === slug)
  return isKnown && !line.includes('\n') ? { kind: 'text', text: `a. ${line}` } : questionOf(english, system)
}
