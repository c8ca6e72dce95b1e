/**
 * The function that notifies the caller of a run when it ends, and the check of the callback's address.
 *
 * Owns the name, the definition that its runs start with, and the refusal of an address. A system has it once a secret for signing is set
 * (compose/notices.ts); the tries are executors/workflow/notices.ts.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { laterFunction } from './delayed-event.ts'
import type { FunctionDefinition, System } from './system.ts'

/** Its prefix is that of all functions that notify the outside: events about their work are not sent out. */
export const CALLBACK = 'notify-callback'

/** A run is created even if the system does not have the function now: it waits for a version that has it. */
export const callbackFunction: FunctionDefinition = { ...laterFunction, name: CALLBACK }

const MAX_LENGTH = 2_048

const problemOf = (url: string): string | null => {
  if (url.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`
  if (!URL.canParse(url)) return 'it is not a URL'
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is neither http: nor https:'
  return username === '' && password === ''
    ? null
    : 'it contains credentials; remove them, the signature identifies the sender'
}

/** Throws if the address is invalid or the system has no callback function. */
export const checkCallback = ({ functions }: System, url: string): void => {
  const problem = problemOf(url)
  if (problem !== null) throw new TrihandError('INPUT_INVALID', `callback_url: ${problem}`)
  if (!functions.has(CALLBACK))
    throw new TrihandError('CALLBACK_UNSIGNED', 'callbacks need a secret for their signature')
}
