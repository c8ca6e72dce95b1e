/**
 * Which fields a form has for a JSON Schema, and the value that they make.
 *
 * Owns how far a form goes: the members of one object that are texts, numbers, yes or no, or one of some words. Anything else is JSON.
 */
import { isRecord, type Json } from '../api/documents.ts'

export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'yes' | 'words' | 'json'
  readonly words: readonly string[]
  readonly isRequired: boolean
  readonly description: string | null
}

const kindOf = (schema: { readonly [key: string]: Json }): Field['kind'] => {
  if (Array.isArray(schema['enum']) && schema['enum'].every((word) => typeof word === 'string')) return 'words'
  switch (schema['type']) {
    case 'string':
      return 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'yes'
    default:
      return 'json'
  }
}

const textOr = <Other>(value: Json | undefined, other: Other): string | Other =>
  typeof value === 'string' ? value : other

/** Null: no form, only JSON. */
export const fieldsOf = (schema: Json): readonly Field[] | null => {
  if (!isRecord(schema) || schema['type'] !== 'object' || !isRecord(schema['properties'])) return null
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(schema['properties']).map(([name, member]) => {
    const given = isRecord(member) ? member : {}
    return {
      name,
      label: textOr(given['title'], name),
      kind: kindOf(given),
      words: Array.isArray(given['enum']) ? given['enum'].map(String) : [],
      isRequired: required.includes(name),
      description: textOr(given['description'], null),
    }
  })
}

export type Filled = Readonly<Record<string, string | boolean>>

const valueIn = ({ kind, label }: Field, given: string | boolean): Json => {
  if (typeof given === 'boolean' || kind === 'text' || kind === 'words') return given
  if (kind === 'number' && given.trim() !== '' && Number.isFinite(Number(given))) return Number(given)
  try {
    return JSON.parse(given) as Json
  } catch {
    throw new Error(`${label} is not ${kind === 'number' ? 'a number' : 'JSON'}`)
  }
}

/** What is left empty is left out: whether that will do is the server's to say. */
export const filledValue = (fields: readonly Field[], filled: Filled): Json =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const given = filled[field.name]
      return given === undefined || given === '' ? [] : [[field.name, valueIn(field, given)] as const]
    }),
  )
