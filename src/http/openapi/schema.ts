/**
 * Short builders for JSON Schema 2020-12, with which routes and documents describe what goes over the wire.
 *
 * Owns the spelling of schemas. Never checks a value: tests check every real answer against them.
 */
import type { Json } from '#model/kernel/json.ts'

export interface Schema {
  readonly [keyword: string]: Json
}

export interface ObjectSchema extends Schema {
  readonly properties: { readonly [name: string]: Schema }
}

export const text: Schema = { type: 'string' }
export const whole: Schema = { type: 'integer' }
export const number: Schema = { type: 'number' }
export const yesNo: Schema = { type: 'boolean' }
export const instant: Schema = { type: 'string', format: 'date-time' }
/** Any JSON value. */
export const anything: Schema = {}
/** The empty body of a command without parameters. */
export const nothing: ObjectSchema = { type: 'object', properties: {}, additionalProperties: false }

export const words = (list: readonly string[]): Schema => ({ type: 'string', enum: list })
export const list = (items: Schema): Schema => ({ type: 'array', items })
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })
export const ref = (component: string): Schema => ({ $ref: `#/components/schemas/${component}` })
export const described = (description: string, schema: Schema): Schema => ({ ...schema, description })

type Members = Readonly<Record<string, Schema>>

/** A document that the server sends: it stays open, because later versions may add members. */
export const record = (required: Members, optional: Members = {}): ObjectSchema => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
})

/** A document that the server receives: an unknown member is refused. */
export const closed = (required: Members, optional: Members = {}): ObjectSchema => ({
  ...record(required, optional),
  additionalProperties: false,
})

export const page = (items: Schema): ObjectSchema => record({ items: list(items), next_cursor: orNull(text) })

/** Query parameters of every list. */
export const PAGING = {
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  cursor: described('next_cursor of the page before', text),
} as const satisfies Members
