/**
 * Encrypts payloads for an encrypted ledger: `enc1:<key id>:<nonce>:<AES-256-GCM>`, with a derived key for each tenant.
 *
 * Owns that format. The place of a payload is additional data. Text that a store must still find in a payload is kept as marks (words
 * of the payload), which follow the ciphertext in clear and are additional data, too.
 *
 * cipher-1  A payload opens only with its key and at its place, unchanged: moved to another tenant, stream, fact or column it does not.
 * cipher-2  Each payload has its own nonce of 96 random bits: after 2^32 payloads of one tenant the key should be changed.
 */
import { createCipheriv, createDecipheriv, createHmac, randomFillSync } from 'node:crypto'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Key } from './keys.ts'

const HIDDEN = 'enc1:'
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
/** No shorter tag is accepted, because it would be easier to guess. */
const TAG_BYTES = 16
const TAG = { authTagLength: TAG_BYTES }
/** Random bytes are drawn for many nonces at once. */
const POOL_BYTES = NONCE_BYTES * 512
const ID_CHARACTERS = 8
const NONCE_CHARACTERS = 16
const NONCE_AT = HIDDEN.length + ID_CHARACTERS + 1
const CONTENT_AT = NONCE_AT + NONCE_CHARACTERS + 1
/** 96 bits, so that two values do not collide by chance. */
const TOKEN_CHARACTERS = 16

/** A payload is encrypted with a key which this process does not have. Another process may have it. */
export class UnknownKey extends TrihandError {
  readonly key: string

  constructor(key: string, place: string) {
    super('LEDGER_KEY_WRONG', `${nameOf(place)} is encrypted with key ${key}, which TRIHAND_LEDGER_KEY does not have`)
    this.key = key
  }
}

export class Cipher {
  readonly #keys: ReadonlyMap<string, Key>
  readonly #first: Key
  readonly #index: Key
  readonly #derived = new Map<string, Buffer>()
  readonly #pool = Buffer.alloc(POOL_BYTES)
  #drawn = POOL_BYTES

  /** The first key encrypts, all of them decrypt; `index`, one of them, makes the tokens. */
  constructor(keys: readonly [Key, ...Key[]], index: Key) {
    this.#keys = new Map(keys.map((key) => [key.id, key]))
    this.#first = keys[0]
    this.#index = index
  }

  hide(tenant: string, place: string, text: string, marks = ''): string {
    const nonce = this.#nonce()
    const cipher = createCipheriv(ALGORITHM, this.#key(this.#first, `tenant ${tenant}`), nonce, TAG)
    cipher.setAAD(Buffer.from(`${tenant}\n${place}\n${marks}`))
    const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    const hidden = `${HIDDEN}${this.#first.id}:${nonce.toString('base64url')}:${content.toString('base64url')}`
    return marks === '' ? hidden : `${hidden}:${marks}`
  }

  /** Throws PAYLOAD_BROKEN, or an UnknownKey. */
  show(tenant: string, place: string, hidden: string): string {
    if (!hidden.startsWith(HIDDEN)) throw broken(place, 'is not encrypted')
    const id = hidden.slice(HIDDEN.length, NONCE_AT - 1)
    const key = this.#keys.get(id)
    if (key === undefined) throw new UnknownKey(id, place)
    const end = hidden.indexOf(':', CONTENT_AT)
    const content = Buffer.from(hidden.slice(CONTENT_AT, end < 0 ? undefined : end), 'base64url')
    const marks = end < 0 ? '' : hidden.slice(end + 1)
    const body = content.length - TAG_BYTES
    if (body < 0) throw broken(place, 'cannot be decrypted: it is truncated')
    try {
      const nonce = Buffer.from(hidden.slice(NONCE_AT, CONTENT_AT - 1), 'base64url')
      const decipher = createDecipheriv(ALGORITHM, this.#key(key, `tenant ${tenant}`), nonce, TAG)
      decipher.setAAD(Buffer.from(`${tenant}\n${place}\n${marks}`))
      decipher.setAuthTag(content.subarray(body))
      return `${decipher.update(content.subarray(0, body), undefined, 'utf8')}${decipher.final('utf8')}`
    } catch {
      throw broken(place, 'cannot be decrypted: it was changed or moved')
    }
  }

  /** Encrypts the payload again with the first key; null: it is encrypted with it already. */
  renew(tenant: string, place: string, hidden: string): string | null {
    if (hidden.startsWith(`${HIDDEN}${this.#first.id}:`)) return null
    const text = this.show(tenant, place, hidden)
    const end = hidden.indexOf(':', CONTENT_AT)
    return this.hide(tenant, place, text, end < 0 ? '' : hidden.slice(end + 1))
  }

  /** The same text gives the same token, and neither can be derived from the other without the key. */
  token(scope: string, text: string): string {
    return createHmac('sha256', this.#key(this.#index, `token ${scope}`))
      .update(text)
      .digest('base64url')
      .slice(0, TOKEN_CHARACTERS)
  }

  #key(key: Key, purpose: string): Buffer {
    const name = `${key.id} ${purpose}`
    const known = this.#derived.get(name)
    if (known !== undefined) return known
    const derived = key.derive(purpose)
    this.#derived.set(name, derived)
    return derived
  }

  #nonce(): Buffer {
    if (this.#drawn === POOL_BYTES) {
      randomFillSync(this.#pool)
      this.#drawn = 0
    }
    this.#drawn += NONCE_BYTES
    return this.#pool.subarray(this.#drawn - NONCE_BYTES, this.#drawn)
  }
}

const nameOf = (place: string): string => `the payload of ${place.replaceAll('\n', ' ')}`

const broken = (place: string, flaw: string): TrihandError =>
  new TrihandError('PAYLOAD_BROKEN', `${nameOf(place)} ${flaw}`)
