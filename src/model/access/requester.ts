/**
 * Who asked for what happens: the people whose credentials began a chain of causes. It goes with the chain, through events, children,
 * tasks, plans, hand-offs and reruns.
 *
 * Owns who counts as a requester. Never knows how a credential is read (http/).
 *
 * requester-1  `separation: requester` excludes those whose credentials began the chain; where no person's did, the one that the declared
 *              field names; where neither is known, nobody is asked.
 */
import type { Cause } from '#model/event/event.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { Identity } from '#model/task/spec.ts'

/** For whom something is sent or started. */
export interface AskedBy {
  /**
   * Who sends or starts it, whom the caller has authenticated: events that only people send are taken with a person here, and a person is
   * the requester of all that follows. Absent: a program.
   */
  readonly by?: Identity
  /** The person whose credential it is, where `by` is a program that works with it. Default: `by`, if that is a person. */
  readonly requester?: string
}

/** A part of a cause: absent where no person is behind it. */
export type Requesters = Pick<Cause, 'requesters'>

export const requestersOf = ({ by, requester }: AskedBy): Requesters => {
  const name = requester ?? (by?.kind === 'user' ? by.id : undefined)
  return name === undefined ? {} : { requesters: [name] }
}

/** Those behind any of these causes, each once. */
export const requestersIn = (causes: readonly Requesters[]): Requesters => {
  const names = [...new Set(causes.flatMap(({ requesters = [] }) => requesters))]
  return names.length === 0 ? {} : { requesters: names }
}

/** As a store keeps it: JSON text, or null. */
export const requestersText = ({ requesters }: Requesters): string | null =>
  requesters === undefined ? null : JSON.stringify(requesters)

export const readRequesters = (text: string | null): Requesters =>
  text === null ? {} : { requesters: JSON.parse(text) as readonly string[] }

/** The field in which an input declares who asked; null: it names none. */
export const declaredRequester = (input: Json): string | null => {
  const named = isJsonRecord(input) ? (input['requester'] ?? input['requested_by'] ?? null) : null
  return typeof named === 'string' && named !== '' ? named : null
}

/** requester-1. */
export const knownRequesters = (chain: readonly string[], declared: string | null): readonly string[] =>
  chain.length > 0 || declared === null ? chain : [declared]
