/**
 * Every error as one document: RFC 9457, with our code, the place and the way out.
 *
 * Owns the only translation of an error into an answer. Never shows what an unexpected error said: it gets a name instead.
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
  /** Under this name the error stands in the server's log. */
  readonly error_id?: string
  /** What is in force now, for whoever decided on what was. */
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

/** Known by its shape, never by instanceof: a system may have been defined with another copy of the package. */
const isOurs = (error: unknown): error is TrihandError =>
  error instanceof Error && error.name === 'TrihandError' && 'code' in error && isErrorCode(String(error.code))

export const problemOf = (error: unknown): Problem => {
  if (error instanceof OutdatedView) return { ...problem(error.code, error.detail), task: error.task }
  if (isOurs(error)) return problem(error.code, error.detail, error.place)
  return problem('INTERNAL', error instanceof Error ? error.message : String(error))
}

export type Report = (errorId: string, error: unknown) => void

/** What a caller may know of it. */
const shown = (error: unknown, report: Report): Problem => {
  const found = problemOf(error)
  if (found.code !== 'INTERNAL') return found
  const errorId = randomText()
  report(errorId, error)
  return { ...problem('INTERNAL', 'something happened that should not'), error_id: errorId }
}

/** Nothing was done, or nobody knows: the same request may be sent again in a second. */
const SOON: ReadonlySet<string> = new Set(['OVERLOADED', 'LEDGER_UNAVAILABLE', 'LEDGER_MISSING'])

/** `redact` takes secrets out of what an error says: the address of a database has its password in it. */
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

/** What a person does on a view that is out of date is refused with what is in force now. */
export class OutdatedView extends TrihandError {
  readonly task: TaskDetail

  constructor(code: ErrorCode, detail: string, task: TaskDetail) {
    super(code, detail)
    this.task = task
  }
}

/** What a refusal says beside its document. */
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
