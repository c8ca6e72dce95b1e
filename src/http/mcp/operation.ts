/**
 * One operation of /openapi.json as a function with named arguments.
 *
 * Owns how arguments become a path, a query and a body. Never sends a request.
 */
import type { Schema } from '#http/openapi/schema.ts'
import type { Json } from '#model/kernel/json.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: Schema
  readonly description?: string
}

interface BodySchema extends Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** The part of an operation that a call needs. */
interface DocumentOperation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: BodySchema }>> }
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export type Arguments = Readonly<Record<string, Json>>

export interface Call {
  readonly method: string
  readonly path: string
  /** Absent: without a body. */
  readonly body?: Arguments
}

export interface CallableOperation {
  readonly summary: string
  readonly isReading: boolean
  readonly parameters: readonly Parameter[]
  readonly body: BodySchema | null
  call(given: Arguments): Call
}

const JSON_TYPE = 'application/json'

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

const callWith =
  (method: string, template: string, { parameters = [], requestBody }: DocumentOperation) =>
  (given: Arguments): Call => {
    const rest: Record<string, Json> = { ...given }
    const query = new URLSearchParams()
    let path = template
    for (const { name, in: place } of parameters) {
      const value = rest[name]
      delete rest[name]
      if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(textOf(value ?? '')))
      else if (value !== undefined) query.set(name, textOf(value))
    }
    const asked = query.size === 0 ? path : `${path}?${query}`
    return { method: method.toUpperCase(), path: asked, ...(requestBody === undefined ? {} : { body: rest }) }
  }

/** Null: this server has no operation with this id. */
export const operationOf = (document: ApiDocument, id: string): CallableOperation | null => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId !== id) continue
      return {
        summary: operation.summary,
        isReading: method === 'get',
        parameters: operation.parameters ?? [],
        body: operation.requestBody?.content[JSON_TYPE]?.schema ?? null,
        call: callWith(method, path, operation),
      }
    }
  }
  return null
}
