/**
 * The name of a tool in the form that providers accept: `[A-Za-z0-9_-]{1,64}`.
 *
 * Owns the translation. `email.send` becomes `email__send`; a long name is cut and made unique by its hash, which is an argument.
 */
const MAX = 64
const HASH_DIGITS = 8

export const wireName = (name: string, digest: (text: string) => string): string => {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '__')
  return plain.length <= MAX ? plain : `${plain.slice(0, MAX - HASH_DIGITS - 1)}_${digest(name).slice(0, HASH_DIGITS)}`
}
