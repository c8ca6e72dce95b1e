/**
 * Parses bodies of requests: JSON and its known members; anything else is refused.
 *
 * Owns media type, encoding and unknown members. Never decides what a value means.
 */
import type { Context } from 'hono'
import type { ObjectSchema } from '#http/openapi/schema.ts'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'

export type Members = Readonly<Record<string, Json | undefined>>

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

const checkMediaType = (given: string): void => {
  const type = given.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return
  throw new TrihandError('MEDIA_TYPE_UNSUPPORTED', type === '' ? 'the body has no content-type' : `the body is ${type}`)
}

export const parseJson = (bytes: ArrayBuffer): Json => {
  try {
    // Fatal: otherwise invalid bytes would be replaced silently, and two different bodies could become equal.
    return toJson(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    if (error instanceof TrihandError) throw error
    throw new TrihandError('NOT_JSON', `the body is not JSON: ${firstLine(error)}`, { cause: error })
  }
}

const membersOf = (value: Json, known: readonly string[], code: ErrorCode): Members => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new TrihandError(code, `the body must be an object${known.length === 0 ? '' : ` with ${known.join(', ')}`}`)
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new TrihandError(code, `the body has no member ${unknown}; it takes ${known.join(', ') || 'none'}`)
  return value as Members
}

export interface BodyRules {
  /** The schema of the route: its properties are the known members. */
  readonly schema: ObjectSchema
  /** The error code for a body of another shape. */
  readonly code: ErrorCode
}

export const readBody = async (context: Context, rules: BodyRules): Promise<Members> => {
  checkMediaType(context.req.header('content-type') ?? '')
  return membersOf(parseJson(await context.req.arrayBuffer()), Object.keys(rules.schema.properties), rules.code)
}

/** For commands that work without a body: no body is read as an empty one. */
export const readOptionalBody = async (context: Context, rules: BodyRules): Promise<Members> => {
  const isEmpty = (await context.req.arrayBuffer()).byteLength === 0
  return isEmpty ? {} : readBody(context, rules)
}

export const textOf = (members: Members, name: string, code: ErrorCode): string => {
  const value = members[name]
  if (typeof value === 'string') return value
  throw new TrihandError(code, `${name} must be a text${value === undefined ? ', and is missing' : ''}`)
}

export const optionalText = (members: Members, name: string, code: ErrorCode): string | undefined =>
  members[name] === undefined ? undefined : textOf(members, name, code)
