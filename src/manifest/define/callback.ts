/**
 * The function that tells whoever asked for a run of its end, and what its address may be.
 *
 * Owns the name, the definition that its runs are born with, and the refusal of an address. A system has it once a secret is set to sign
 * with (assemble-notices.ts); the tries are executors/workflow/notices.ts.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { laterFunction } from './delayed-event.ts'
import type { FunctionDefinition, System } from './system.ts'

/** As all that tells the outside: what it does is news to nobody. */
export const CALLBACK = 'notify-callback'

/** A run is born whether or not the system has the function now: it waits for one that has. */
export const callbackFunction: FunctionDefinition = { ...laterFunction, name: CALLBACK }

const MAX_LENGTH = 2_048

const problemOf = (url: string): string | null => {
  if (url.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`
  if (!URL.canParse(url)) return 'it is no URL'
  const { protocol, username, password } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is neither http: nor https:'
  return username === '' && password === '' ? null : 'it has credentials in it; the signature proves who calls'
}

/** Throws if nobody would call there. */
export const checkCallback = ({ functions }: System, url: string): void => {
  const problem = problemOf(url)
  if (problem !== null) throw new TrihandError('INPUT_INVALID', `callback_url: ${problem}`)
  if (!functions.has(CALLBACK))
    throw new TrihandError('CALLBACK_UNSIGNED', 'there is no secret to sign a callback with')
}
