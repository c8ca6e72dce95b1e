/**
 * The error codes of a route: those that it names, and those that any route of its kind has.
 *
 * Owns the second part, once for all routes. Tests check every response against it.
 */
import type { Description } from '#http/routes/route.ts'
import { ERRORS, type ErrorCode } from '#model/kernel/errors.ts'

const ANY: readonly ErrorCode[] = [
  'QUERY_UNKNOWN',
  'HOST_FORBIDDEN',
  'INTERNAL',
  'LEDGER_UNAVAILABLE',
  'PAYLOAD_BROKEN',
]
const KEYED: readonly ErrorCode[] = [
  'IDEMPOTENCY_MISMATCH',
  'REQUEST_IN_PROGRESS',
  'REQUEST_UNANSWERED',
  'INPUT_INVALID',
]
const WRITES: readonly ErrorCode[] = [
  'ORIGIN_FORBIDDEN',
  'LEDGER_CONFLICT',
  'STORAGE_FULL',
  'LEDGER_MISSING',
  'OVERLOADED',
]
const BODIES: readonly ErrorCode[] = [
  'NOT_JSON',
  'JSON_INVALID',
  'PAYLOAD_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
  'BODY_INCOMPLETE',
]
const NAMED: readonly ErrorCode[] = ['NOT_FOUND']
const GUARDED: readonly ErrorCode[] = ['UNAUTHENTICATED', 'ROLE_MISSING', 'TOO_MANY_REQUESTS']
const DECIDES: readonly ErrorCode[] = ['AGENT_CANNOT_DECIDE']

export const problemsOf = ({ method, path, access, body, problems = [] }: Description): ReadonlySet<ErrorCode> =>
  new Set([
    ...ANY,
    ...(method === 'get' ? [] : WRITES),
    ...(method === 'post' && access !== 'public' ? KEYED : []),
    ...(body === undefined ? [] : BODIES),
    ...(path.includes('{') ? NAMED : []),
    ...(access === 'public' ? [] : GUARDED),
    ...(access === 'decider' ? DECIDES : []),
    ...problems,
  ])

export const byStatus = (codes: Iterable<ErrorCode>): ReadonlyMap<number, readonly ErrorCode[]> => {
  const statuses = new Map<number, ErrorCode[]>()
  for (const code of codes) statuses.set(ERRORS[code].status, [...(statuses.get(ERRORS[code].status) ?? []), code])
  return statuses
}
