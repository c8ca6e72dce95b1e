/**
 * Every error as a problem document: RFC 9457, with our code, the place and a hint.
 *
 * Owns the only translation of an error into a response. Never shows the message of an unexpected error: it gets an id instead.
 */
import { RequestInProgress } from '#engine/services/idempotency-keys.ts'
import { randomText } from '#http/access/random.ts'
import type { TaskDetail } from '#http/openapi/api.ts'
import { ERRORS, type ErrorCode, isErrorCode, type Place, TrihandError } from '#model/kernel/errors.ts'

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly hint: string
  readonly place?: Place
  /** The id of the error in the server's log. */
  readonly error_id?: string
  /** The current task, for a caller who decided on an outdated view. */
  readonly task?: TaskDetail
}

const titleOf = (code: string): string => {
  const words = code.toLowerCase().replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

export const problem = (code: ErrorCode, detail: string, place: Place | null = null): Problem => ({
  type: `urn:trihand:error:${code}`,
  title: titleOf(code),
  status: ERRORS[code].status,
  code,
  detail,
  hint: ERRORS[code].hint,
  ...(place === null ? {} : { place }),
})

/** Recognized by its shape, never by instanceof: a system may have been defined with another copy of the package. */
const isOurs = (error: unknown): error is TrihandError =>
  error instanceof Error && error.name === 'TrihandError' && 'code' in error && isErrorCode(String(error.code))

export const problemOf = (error: unknown): Problem => {
  if (error instanceof OutdatedView) return { ...problem(error.code, error.detail), task: error.task }
  if (isOurs(error)) return problem(error.code, error.detail, error.place)
  return problem('INTERNAL', error instanceof Error ? error.message : String(error))
}

export type Report = (errorId: string, error: unknown) => void

/** The problem as the caller may see it. */
const shown = (error: unknown, report: Report): Problem => {
  const found = problemOf(error)
  if (found.code !== 'INTERNAL') return found
  const errorId = randomText()
  report(errorId, error)
  return { ...problem('INTERNAL', 'an unexpected error happened'), error_id: errorId }
}

/** Nothing was done, or the outcome is unknown: the same request may be sent again in a second. */
const SOON: ReadonlySet<string> = new Set(['OVERLOADED', 'LEDGER_UNAVAILABLE', 'LEDGER_MISSING'])

/** `redact` removes secrets from the message of an error: the address of a database contains its password. */
export const problemResponse = (error: unknown, report: Report, redact: (text: string) => string): Response => {
  const found = shown(error, report)
  const document = { ...found, detail: redact(found.detail) }
  const headers = {
    'content-type': 'application/problem+json',
    ...(SOON.has(document.code) ? { 'retry-after': '1' } : {}),
    ...(error instanceof RefusalWithHeaders ? error.headers : {}),
    ...(error instanceof RequestInProgress ? { 'retry-after': String(error.waitSeconds) } : {}),
  }
  return new Response(JSON.stringify(document), { status: document.status, headers })
}

/** The refusal of an action on an outdated view, with the current task. */
export class OutdatedView extends TrihandError {
  readonly task: TaskDetail

  constructor(code: ErrorCode, detail: string, task: TaskDetail) {
    super(code, detail)
    this.task = task
  }
}

/** A refusal with response headers. */
abstract class RefusalWithHeaders extends TrihandError {
  abstract readonly headers: Readonly<Record<string, string>>
}

export class MethodNotAllowed extends RefusalWithHeaders {
  readonly headers: { readonly allow: string }

  constructor(method: string, path: string, allow: string) {
    super('METHOD_NOT_ALLOWED', `${path} does not take ${method}; it takes ${allow}`)
    this.headers = { allow }
  }
}

export class TooManyRequests extends RefusalWithHeaders {
  readonly headers: { readonly 'retry-after': string }

  constructor(detail: string, waitSeconds: number) {
    super('TOO_MANY_REQUESTS', detail)
    this.headers = { 'retry-after': String(waitSeconds) }
  }
}
