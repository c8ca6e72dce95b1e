/**
 * Keys as an operator gives them: a list of secrets in one variable. The first one is used for new data, all of them for existing data.
 *
 * Owns their parsing and derivation (HKDF-SHA256). A secret itself never seals or encrypts, and its id reveals nothing of it.
 */
import { hkdfSync } from 'node:crypto'
import { TrihandError } from '#model/kernel/errors.ts'

export interface Key {
  /** Eight characters that identify the key wherever it was used. */
  readonly id: string
  /** Derives thirty-two bytes for one purpose. */
  derive(purpose: string): Buffer
}

const SHORTEST = 32
const KEY_BYTES = 32
const ID_BYTES = 6
const SALT = 'trihand'

const bytesOf = (secret: string, purpose: string, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, SALT, purpose, length))

const keyOf = (name: string, secret: string): Key => ({
  id: bytesOf(secret, `${name} id`, ID_BYTES).toString('base64url'),
  derive: (purpose) => bytesOf(secret, `${name} ${purpose}`, KEY_BYTES),
})

/** The name of the variable with the keys that encrypt. */
export const LEDGER_KEY = 'TRIHAND_LEDGER_KEY'

/** The ledger's own key, from the secret in its record. */
export const ownKey = (secret: string): Key => keyOf(LEDGER_KEY, secret)

/** The first secret of a ledger: the same in every process that begins the ledger with this key. */
export const firstSecret = (key: Key): string => key.derive('ledger secret').toString('base64url')

/** `name` is the name of the variable. Empty or absent text: no keys. */
export const readKeys = (name: string, text: string | undefined): readonly Key[] => {
  if (text === undefined || text.trim() === '') return []
  const secrets = text.split(',').map((secret) => secret.trim())
  if (secrets.some((secret) => secret.length < SHORTEST))
    throw new TrihandError(
      'CONFIG_INVALID',
      `${name} needs at least ${SHORTEST} characters for each key; create one with: openssl rand -base64 32`,
    )
  if (new Set(secrets).size < secrets.length) throw new TrihandError('CONFIG_INVALID', `${name} lists a key twice`)
  return secrets.map((secret) => keyOf(name, secret))
}
