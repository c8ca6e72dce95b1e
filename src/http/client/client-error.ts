/**
 * A problem document as an error, for programs that only use HTTP.
 *
 * Has the same members as the engine's error class, without its table: it holds what the server sent. Recognize it by its name, never by
 * instanceof.
 */
import type { Problem } from '#http/openapi/api.ts'

/** A problem document of the server as an error. Recognise it by its `name`, never by instanceof. */
export class TrihandError extends Error {
  /** What went wrong, in one word: `NOT_FOUND`. */
  readonly code: string
  /** The HTTP status. */
  readonly status: number
  /** What went wrong, in a sentence. */
  readonly detail: string
  /** What to do about it. */
  readonly hint: string
  /** Where in what was sent it is wrong; null: nowhere. */
  readonly place: Problem['place'] | null
  /** The id of the error in the server's log. */
  readonly errorId: string | null

  constructor(problem: Problem, cause?: unknown) {
    super(`${problem.code}: ${problem.detail}`, cause === undefined ? undefined : { cause })
    this.name = 'TrihandError'
    this.code = problem.code
    this.status = problem.status
    this.detail = problem.detail
    this.hint = problem.hint
    this.place = problem.place ?? null
    this.errorId = problem.error_id ?? null
  }
}

const own = (code: string, status: number, detail: string, hint: string): Problem => ({
  ...{ type: `urn:trihand:error:${code}`, title: code, code, status, detail, hint },
})

export const unreachable = (url: string, cause: unknown): TrihandError => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const reason = inner instanceof Error ? inner.message : String(inner)
  const hint = 'Start it with `trihand dev`, or give its address.'
  return new TrihandError(own('SERVER_UNREACHABLE', 503, `${url} does not answer: ${reason}`, hint), cause)
}

/** A proxy in between may answer, too: then there is no problem document. */
export const refusedBy = async (response: Response): Promise<TrihandError> => {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('application/problem+json')) return new TrihandError((await response.json()) as Problem)
  const detail = `${response.url} answers ${response.status} ${type}, so it is not a trihand server`
  return new TrihandError(own('SERVER_UNREACHABLE', response.status, detail, 'Check the address.'))
}
