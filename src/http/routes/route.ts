/**
 * What a route is: one operation on one path, said in data, and the function that performs it.
 *
 * Owns the shape only. The table of methods (405), the known parameters, who may call, /openapi.json and the client's types all come
 * from it.
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
  /** One per media type that is taken. */
  readonly content: readonly Content[]
}

/** What a route says of itself. */
export interface Description {
  /** Unique, a verb and its object: `listRuns`. */
  readonly id: string
  readonly method: Method
  /** As OpenAPI writes it: `/api/runs/{id}`. `{path+}` takes the rest, slashes and all. */
  readonly path: string
  /** Which role it takes. `public`: nobody is asked; the route proves by itself who calls, or has nothing to hide. */
  readonly access: Access
  /** One line. */
  readonly summary: string
  /** Known parameters; any other is refused before the handler is asked. `*`: whatever the caller adds. */
  readonly query?: Readonly<Record<string, Schema>> | '*'
  /** Absent: no body is read. */
  readonly body?: RequestBody
  /** By status; null: without a body. */
  readonly answers: Readonly<Record<number, Content | null>>
  /** False: no answer is kept for an Idempotency-Key, because the work itself knows its key. */
  readonly isKept?: boolean
  /** True: the answer is kept nowhere; a repeat under the same Idempotency-Key is refused. */
  readonly answersSecret?: boolean
  /** What it refuses with, beside what any route of its kind does (problems.ts). */
  readonly problems?: readonly ErrorCode[]
}

export interface Operation extends Description {
  readonly handle: Handle
}

export const JSON_TYPE = 'application/json'

export const json = (schema: Schema): Content => ({ media: JSON_TYPE, schema })

export const body = (schema: Schema): RequestBody => ({ isRequired: true, content: [json(schema)] })

/** For commands that need no word. */
export const optionalBody = (schema: Schema): RequestBody => ({ isRequired: false, content: [json(schema)] })
