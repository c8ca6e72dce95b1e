/**
 * The definition of a route: one operation on one path, described as data, and the function that performs it.
 *
 * Owns the shape only. The allowed methods (405), the known parameters, access control, /openapi.json and the client's types are all
 * derived from it.
 */
import type { Context } from 'hono'
import type { Schema } from '#http/openapi/schema.ts'
import type { Query } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import type { Access } from '#model/access/identity.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'

export type Handle = (service: Service, context: Context, query: Query) => Promise<Response>

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export interface Content {
  readonly media: string
  readonly schema: Schema
}

export interface RequestBody {
  readonly isRequired: boolean
  /** One per accepted media type. */
  readonly content: readonly Content[]
}

/** The description of a route. */
export interface Description {
  /** Unique, a verb and its object: `listRuns`. */
  readonly id: string
  readonly method: Method
  /** As OpenAPI writes it: `/api/runs/{id}`. `{path+}` takes the rest, slashes and all. */
  readonly path: string
  /** The required role. `public`: no credential is needed; the route verifies the caller by itself, or has nothing to hide. */
  readonly access: Access
  /** One line. */
  readonly summary: string
  /** Known parameters; any other is refused before the handler is called. `*`: any parameter is accepted. */
  readonly query?: Readonly<Record<string, Schema>> | '*'
  /** Absent: no body is read. */
  readonly body?: RequestBody
  /** By status; null: without a body. */
  readonly answers: Readonly<Record<number, Content | null>>
  /** False: no response is stored for an Idempotency-Key, because the operation itself is idempotent under the key. */
  readonly isKept?: boolean
  /** True: the response is never stored; a repeat under the same Idempotency-Key is refused. */
  readonly answersSecret?: boolean
  /** Error codes in addition to those that any route of its kind has (problems.ts). */
  readonly problems?: readonly ErrorCode[]
}

export interface Operation extends Description {
  readonly handle: Handle
}

export const JSON_TYPE = 'application/json'

export const json = (schema: Schema): Content => ({ media: JSON_TYPE, schema })

export const body = (schema: Schema): RequestBody => ({ isRequired: true, content: [json(schema)] })

/** For commands that work without a body. */
export const optionalBody = (schema: Schema): RequestBody => ({ isRequired: false, content: [json(schema)] })
