/**
 * Idempotency-Key: a request that is sent again does nothing and gets the first answer.
 *
 * Owns what of an answer is kept, and which errors give a key back. Who may begin is engine/requests.ts.
 */
import type { Context } from 'hono'
import type { Requests, Taken } from '../engine/requests.ts'
import { ERRORS, TrihandError } from '../model/errors.ts'
import { isPlainText } from '../model/ids.ts'
import { isJsonRecord, type Json } from '../model/json.ts'
import { demandCaller } from './identity.ts'
import { problemOf } from './problem.ts'
import { JSON_TYPE, type Operation } from './routes/route.ts'

const MAX_LENGTH = 255
const KEPT = ['content-type', 'location', 'etag'] as const
const UNPROCESSED = 500

/** Routes that answer with JSON, unless they say that nothing of it may be kept. */
const takesKey = ({ method, access, isKept, answers }: Operation): boolean =>
  method === 'post' &&
  access !== 'public' &&
  isKept !== false &&
  Object.values(answers).every((content) => content === null || content.media === JSON_TYPE)

const keyOf = (context: Context, operation: Operation): string | null => {
  const key = context.req.header('idempotency-key')
  if (key === undefined || !takesKey(operation)) return null
  if (!isPlainText(key, MAX_LENGTH))
    throw new TrihandError('INPUT_INVALID', `Idempotency-Key must have 1 to ${MAX_LENGTH} plain characters`)
  return key
}

const again = (answer: Json): Response => {
  const { status, body, headers } = isJsonRecord(answer) ? answer : {}
  const kept = { ...(headers as Record<string, string>), 'idempotency-replayed': 'true' }
  return new Response(String(body ?? ''), { status: Number(status), headers: kept })
}

const keep = async (response: Response): Promise<Json> => {
  const headers = KEPT.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.clone().text() }
}

/** A refusal is an answer, too. What the store did not do may be asked again; what nobody knows keeps its key. */
const settle = async (requests: Requests, taken: Taken, error: unknown): Promise<void> => {
  const { code, status } = problemOf(error)
  const isDone = error instanceof TrihandError && error.outcome === 'unknown'
  if (status < UNPROCESSED) {
    const problem = JSON.stringify(problemOf(error))
    await requests.answer(taken, { status, headers: { 'content-type': 'application/problem+json' }, body: problem })
  } else if (!isDone && code !== 'INTERNAL' && ERRORS[code as keyof typeof ERRORS].retryable)
    await requests.release(taken)
}

export const withKey = async (
  requests: Requests,
  context: Context,
  operation: Operation,
  work: () => Promise<Response>,
): Promise<Response> => {
  const key = keyOf(context, operation)
  if (key === null) return work()
  const { tenant, id } = demandCaller(context)
  const { pathname, search } = new URL(context.req.url)
  const content = `${search}\n${await context.req.text()}`
  const begun = await requests.begin({ scope: [tenant, id, pathname, key], content })
  if ('answer' in begun) return again(begun.answer)
  try {
    const response = await work()
    await requests.answer(begun.taken, await keep(response))
    return response
  } catch (error) {
    await settle(requests, begun.taken, error)
    throw error
  }
}
