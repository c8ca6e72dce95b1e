/**
 * A form at a terminal: one question for each field of an action, asked again until the answer fits the schema.
 *
 * Owns the questions. Which fields there are, and what fits, is model/form-fields.ts, as on the page.
 */
import type { Json, TaskAction } from '../http/api.ts'
import { type Field, type FieldKind, fieldsOf, filledRecord, problemOf } from '../model/form-fields.ts'
import type { Ask } from './conversation.ts'
import { visible } from './output.ts'

const HINTS: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  long: 'text',
  number: 'number',
  integer: 'whole number',
  yes: 'yes or no',
  words: 'one of',
  lines: 'one on each line, an empty line ends the list',
  json: 'JSON',
  date: 'date, like 2026-01-31',
  'date-time': 'date and time, like 2026-01-31T14:00',
  time: 'time, like 14:00',
  email: 'e-mail address',
  uri: 'address, like https://example.com',
}

const rangeOf = ({ schema }: Field): string => {
  const { minimum, maximum } = schema
  if (typeof minimum === 'number' && typeof maximum === 'number') return `, ${minimum} to ${maximum}`
  if (typeof minimum === 'number') return `, at least ${minimum}`
  return typeof maximum === 'number' ? `, at most ${maximum}` : ''
}

const promptOf = (field: Field): string => {
  const { label, kind, words, isRequired, description } = field
  const hint = kind === 'words' ? `${HINTS[kind]} ${words.join(', ')}` : HINTS[kind]
  const about = description === null ? '' : `. ${description}`
  return visible(`${label} (${hint}${rangeOf(field)}${isRequired ? '' : ', or empty'})${about}: `)
}

const lines = async (ask: Ask, prompt: string): Promise<string | null> => {
  const all: string[] = []
  for (;;) {
    const line = await ask(all.length === 0 ? prompt : '  ')
    if (line === null) return null
    if (line.trim() === '') return all.join('\n')
    all.push(line)
  }
}

const YES = /^(y|yes|true)$/i
const NO = /^(n|no|false)$/i

/** Undefined: no answer to a question of yes or no. */
const typedValue = (field: Field, text: string): string | boolean | undefined => {
  if (field.kind !== 'yes' || text === '') return text
  return YES.test(text) ? true : NO.test(text) ? false : undefined
}

const wrong = (field: Field, given: string | boolean | undefined): string | null => {
  if (given === undefined || (given === '' && field.kind === 'yes' && field.isRequired)) return 'is yes or no'
  return problemOf(field, given)
}

/** Null: the person broke off. */
const answerOf = async (field: Field, ask: Ask, say: (text: string) => void): Promise<string | boolean | null> => {
  for (;;) {
    const prompt = promptOf(field)
    const text = await (field.kind === 'lines' ? lines(ask, prompt) : ask(prompt))
    if (text === null) return null
    const given = typedValue(field, text.trim())
    const problem = wrong(field, given)
    if (problem === null) return given ?? ''
    say(visible(`${field.label} ${problem}`))
  }
}

export const formOf = ({ fields_schema, required_fields }: TaskAction): readonly Field[] =>
  fieldsOf(fields_schema, required_fields) ?? []

/** The value as the schema asks for it. Null: the person broke off. */
export const askForm = async (
  fields: readonly Field[],
  ask: Ask,
  say: (text: string) => void,
): Promise<{ readonly [name: string]: Json } | null> => {
  const filled: Record<string, string | boolean> = {}
  for (const field of fields) {
    const given = await answerOf(field, ask, say)
    if (given === null) return null
    filled[field.name] = given
  }
  return filledRecord(fields, filled)
}
