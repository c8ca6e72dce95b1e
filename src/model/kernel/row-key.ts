/**
 * Texts that become keys of rows in a store: names of documents, paths of waits, names of people.
 *
 * Owns how long they may be, so that every store can index them: Postgres takes at most 2,704 bytes in one index entry, and a character has at
 * most three bytes. Values without such a limit, such as keys of limits and values of waits, are indexed by digest (docs/decisions/0105).
 *
 * row-key-1  A text that passes here is stored and indexed by every store, and comes back unchanged.
 */

export interface KeyRule {
  readonly what: string
  readonly most: number
}

export const DOCUMENT_TABLE: KeyRule = { what: 'the name of a table', most: 128 }
export const DOCUMENT_KEY: KeyRule = { what: 'the key of a document', most: 700 }
export const MATCH_PATH: KeyRule = { what: 'the path of a match', most: 255 }
export const PERSON_NAME: KeyRule = { what: 'the name of a user or group', most: 255 }
export const EVENT_SUBJECT: KeyRule = { what: 'the subject of an event', most: 255 }

// NUL, which Postgres refuses, and halves of surrogate pairs, which UTF-8 cannot encode.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing NUL is the point
const UNSTORABLE = /[\u0000\ud800-\udfff]/u

/** The problem with the text and what to do about it; null: none. */
export const keyProblem = ({ what, most }: KeyRule, text: string): string | null => {
  if (text === '') return `${what} is empty`
  if (text.length > most)
    return `${what} has ${text.length} characters; at most ${most} are allowed. Use a digest of the long text`
  return UNSTORABLE.test(text)
    ? `${what} holds a NUL character or half of a surrogate pair, which databases cannot store; encode it, for example as base64url`
    : null
}

/** The problem with the first of these users and groups that cannot be stored; null: none. */
export const nameProblem = (names: readonly string[]): string | null => {
  for (const name of names) {
    const problem = keyProblem(PERSON_NAME, name)
    if (problem !== null) return problem
  }
  return null
}
