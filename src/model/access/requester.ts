/**
 * Who asked for something: the people whose credentials began a chain of causes. The chain carries them through events, children, tasks, plans,
 * hand-offs and reruns.
 *
 * Owns who counts as a requester. Never depends on how a credential is read (http/).
 *
 * requester-1  `separation: requester` excludes the people whose credentials began the chain; if there are none, the person that the declared field
 *              names; if neither is known, no task is opened.
 */
import type { Cause } from '#model/event/event.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Identity } from '#model/task/spec.ts'

/** On whose behalf something is sent or started. */
export interface AskedBy {
  /**
   * The authenticated sender or starter: events that only people send are accepted with a person here, and a person is the requester of all that
   * follows. Default: a program.
   */
  readonly by?: Identity
  /** The person who owns the credential, if `by` is a program that works with it. Default: `by`, if that is a person. */
  readonly requester?: string
}

/** The requesters of a cause: absent if no person began it. */
export type Requesters = Pick<Cause, 'requesters'>

export const requestersOf = ({ by, requester }: AskedBy): Requesters => {
  const name = requester ?? (by?.kind === 'user' ? by.id : undefined)
  return name === undefined ? {} : { requesters: [name] }
}

/** The requesters of all these causes, each once. */
export const requestersIn = (causes: readonly Requesters[]): Requesters => {
  const names = [...new Set(causes.flatMap(({ requesters = [] }) => requesters))]
  return names.length === 0 ? {} : { requesters: names }
}

/** The stored form: JSON text, or null. */
export const requestersText = ({ requesters }: Requesters): string | null =>
  requesters === undefined ? null : JSON.stringify(requesters)

export const readRequesters = (text: string | null): Requesters =>
  text === null ? {} : { requesters: JSON.parse(text) as readonly string[] }

/** The requester that an input declares in one of its fields; null: none. */
export const declaredRequester = (input: Json): string | null => {
  const named = isJsonRecord(input) ? (input['requester'] ?? input['requested_by'] ?? null) : null
  return typeof named === 'string' && named !== '' ? named : null
}

/** requester-1. */
export const knownRequesters = (chain: readonly string[], declared: string | null): readonly string[] =>
  chain.length > 0 || declared === null ? chain : [declared]
