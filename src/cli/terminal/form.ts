/**
 * A form at a terminal: one question for each field of an action, repeated until the answer matches the schema.
 *
 * Owns the questions. The fields and their validation are in model/kernel/form-fields.ts, as for the page.
 */
import type { Json, TaskAction, TaskDetail } from '#http/openapi/api.ts'
import {
  type Field,
  type FieldKind,
  type Filled,
  fieldsOf,
  filledRecord,
  problemOf,
  problemsOf,
} from '#model/kernel/form-fields.ts'
import { isJsonRecord } from '#model/kernel/json.ts'
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
  choices: 'any of',
  rows: 'a list',
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

const shownInitial = (initial: string | boolean): string => {
  if (typeof initial === 'boolean') return initial ? 'yes' : 'no'
  return initial.replaceAll('\n', ', ')
}

const promptOf = (field: Field): string => {
  const { label, kind, words, isRequired, description, initial } = field
  const hint = words.length === 0 ? HINTS[kind] : `${HINTS[kind]} ${words.join(', ')}`
  const list = kind === 'choices' ? `; ${HINTS.lines}` : ''
  const empty = initial === null ? (isRequired ? '' : ', or empty') : `, or empty for ${shownInitial(initial)}`
  const about = description === null ? '' : `. ${description}`
  return visible(`${label} (${hint}${rangeOf(field)}${list}${empty})${about}: `)
}

type Say = (text: string) => void

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

/** Undefined: the text is neither yes nor no. */
const typedValue = (field: Field, text: string): string | boolean | undefined => {
  if (field.kind !== 'yes' || text === '') return text
  return YES.test(text) ? true : NO.test(text) ? false : undefined
}

const wrong = (field: Field, given: string | boolean | undefined): string | null => {
  if (given === undefined || (given === '' && field.kind === 'yes' && field.isRequired)) return 'must be yes or no'
  return problemOf(field, given)
}

const isMore = async (field: Field, count: number, ask: Ask, say: Say): Promise<boolean | null> => {
  for (;;) {
    const text = await ask(visible(`${field.label}: add ${count === 0 ? 'a' : 'another'} row? (yes or no): `))
    if (text === null || text.trim() === '') return text === null ? null : false
    const given = typedValue({ ...field, kind: 'yes' }, text.trim())
    if (typeof given === 'boolean') return given
    say('Answer yes or no')
  }
}

/** A list of objects: asks for the fields of a row until the person adds no more rows. */
const rows = async (field: Field, ask: Ask, say: Say): Promise<string | null> => {
  const all: Filled[] = []
  for (;;) {
    const more = await isMore(field, all.length, ask, say)
    if (more === null) return null
    if (!more) return JSON.stringify(all)
    const row = await fillIn(field.rows, ask, say)
    if (row === null) return null
    all.push(row)
  }
}

const textFor = (field: Field, ask: Ask, say: Say): Promise<string | null> => {
  if (field.kind === 'rows') return rows(field, ask, say)
  const prompt = promptOf(field)
  return field.kind === 'lines' || field.kind === 'choices' ? lines(ask, prompt) : ask(prompt)
}

/** Null: the person cancelled. */
const answerOf = async (field: Field, ask: Ask, say: Say): Promise<string | boolean | null> => {
  for (;;) {
    const text = await textFor(field, ask, say)
    if (text === null) return null
    const given = text.trim() === '' ? (field.initial ?? '') : typedValue(field, text.trim())
    const problem = wrong(field, given)
    if (problem === null) return given ?? ''
    say(visible(`${field.label} ${problem}`))
  }
}

/** Asks every field, then again those that other answers made necessary. Null: the person cancelled. */
const fillIn = async (fields: readonly Field[], ask: Ask, say: Say): Promise<Filled | null> => {
  const filled: Record<string, string | boolean> = {}
  let left = fields
  for (;;) {
    for (const field of left) {
      const given = await answerOf(field, ask, say)
      if (given === null) return null
      filled[field.name] = given
    }
    const problems = problemsOf(fields, filled)
    left = fields.filter(({ name }) => Object.hasOwn(problems, name))
    if (left.length === 0) return filled
    for (const { name } of left) say(visible(problems[name] ?? ''))
  }
}

export const formOf = ({ fields_schema, required_fields }: TaskAction): readonly Field[] =>
  fieldsOf(fields_schema, required_fields) ?? []

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  isJsonRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** Takes values from the draft of this form on the page as defaults, which an empty answer accepts. Rows are asked anew. */
export const begun = (fields: readonly Field[], { drafts }: TaskDetail, action: string): readonly Field[] => {
  const whole = drafts.find(({ item }) => item === null)?.content
  const form = memberOf(memberOf(whole, 'forms'), action)
  return fields.map((field) => {
    const typed = field.kind === 'rows' ? undefined : memberOf(form, field.name)
    return typeof typed === 'boolean' || (typeof typed === 'string' && typed !== '')
      ? { ...field, initial: typed }
      : field
  })
}

/** Returns the value in the form of the schema. Null: the person cancelled. */
export const askForm = async (
  fields: readonly Field[],
  ask: Ask,
  say: Say,
): Promise<{ readonly [name: string]: Json } | null> => {
  const filled = await fillIn(fields, ask, say)
  return filled === null ? null : filledRecord(fields, filled)
}
