/**
 * Idempotency-Key: a repeated request does nothing and gets the first response, also if the server died before it answered.
 *
 * Owns what a key is bound to, which part of a response is stored, and which errors release a key. Which attempt may work is decided by
 * engine/services/idempotency-keys.ts; how a second attempt finds the work of the first is decided by each route (work.ts).
 *
 * keyed-1  A key is bound to the bytes of the body, its type, the `ce-*` headers, method, path, query and caller. Bodies stay bytes.
 * keyed-2  A secret is never stored: the repeat of a request whose response contained one is refused.
 */
import type { Context } from 'hono'
import type { Requests, Work } from '#engine/services/idempotency-keys.ts'
import { requireCaller } from '#http/access/identity.ts'
import { JSON_TYPE, type Operation } from '#http/routes/route.ts'
import { ERRORS, TrihandError } from '#model/kernel/errors.ts'
import { isPlainText } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import { problem, problemOf } from './problem.ts'
import { keepWork } from './work.ts'

const MAX_LENGTH = 255
const KEPT = ['content-type', 'location', 'etag'] as const
const ATTRIBUTES = 'ce-'
const UNPROCESSED = 500

/** Routes that answer with JSON, unless their operation handles the key by itself. */
const takesKey = ({ method, access, isKept, answers }: Operation): boolean =>
  method === 'post' &&
  access !== 'public' &&
  isKept !== false &&
  Object.values(answers).every((content) => content === null || content.media === JSON_TYPE)

const keyOf = (context: Context, operation: Operation): string | null => {
  const key = context.req.header('idempotency-key')
  if (key === undefined || !takesKey(operation)) return null
  if (!isPlainText(key, MAX_LENGTH))
    throw new TrihandError(
      'INPUT_INVALID',
      `Idempotency-Key must have 1 to ${MAX_LENGTH} characters and no control characters`,
    )
  return key
}

/** keyed-1 */
const contentOf = async (context: Context, search: string) => {
  const bytes = Buffer.from(await context.req.arrayBuffer())
  const attributes = Object.entries(context.req.header())
    .filter(([name]) => name.startsWith(ATTRIBUTES))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const type = context.req.header('content-type') ?? ''
  return {
    content: JSON.stringify([context.req.method, search, type, attributes, bytes.toString('base64')]),
    formerContent: `${search}\n${bytes.toString()}`,
  }
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

const refusalToKeep = (error: unknown): Json => {
  const found = problemOf(error)
  return {
    status: found.status,
    headers: { 'content-type': 'application/problem+json' },
    body: JSON.stringify(found),
  }
}

/** keyed-2 */
const notKept = (): Json => {
  const { code, detail } = problem(
    'ANSWER_NOT_KEPT',
    'the request succeeded, but its answer had a secret and was not stored',
  )
  return refusalToKeep(new TrihandError(code as 'ANSWER_NOT_KEPT', detail))
}

/** A refusal is stored as the response. Any other error releases the key: the next request does the work again, with the same ids. */
const settle = async (requests: Requests, work: Work, error: unknown): Promise<void> => {
  const { code, status } = problemOf(error)
  if (status < UNPROCESSED) return requests.answer(work, refusalToKeep(error))
  const isUnknown = error instanceof TrihandError && error.outcome === 'unknown'
  const isUndone = !isUnknown && code !== 'INTERNAL' && ERRORS[code as keyof typeof ERRORS].retryable
  await requests.release(work, !isUndone)
}

export const withKey = async (
  requests: Requests,
  context: Context,
  operation: Operation,
  handle: () => Promise<Response>,
): Promise<Response> => {
  const key = keyOf(context, operation)
  if (key === null) return handle()
  const { tenant, id } = requireCaller(context)
  const { pathname, search } = new URL(context.req.url)
  const begun = await requests.begin({ scope: [tenant, id, pathname, key], ...(await contentOf(context, search)) })
  if ('answer' in begun) return again(begun.answer)
  const { work } = begun
  const holdsSecret = operation.answersSecret === true
  if (holdsSecret && work.isRepeated) {
    await requests.answer(work, notKept())
    return again(notKept())
  }
  keepWork(context, work)
  try {
    const response = await handle()
    // The work is done, so the caller gets the response; if the store does not keep it, a repeat finds the work (requests-3).
    await requests.answer(work, holdsSecret ? notKept() : await keep(response)).catch(() => {})
    return response
  } catch (error) {
    await settle(requests, work, error)
    throw error
  }
}
