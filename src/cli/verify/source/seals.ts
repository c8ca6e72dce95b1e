/**
 * Verifies seals for the checker: sha256 without a key, HMAC-SHA256 with one. Implemented a second time here, from the description of the
 * format.
 *
 * A keyed seal is `h1:<key id>:<HMAC>`. Key and id are HKDF-SHA256 of the secret with the salt `trihand`. If there is a key, a seal without
 * one is invalid.
 */
import { createHmac, hash, hkdfSync } from 'node:crypto'

/** The hash that is used everywhere: sha256 of the text, in base64url. */
export const digest = (text: string): string => hash('sha256', text, 'base64url')

const KEYED = /^h1:([\w-]{8}):/
const derive = (name: string, secret: string, purpose: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'trihand', `${name} ${purpose}`, bytes))

/** Null: the seal is valid. Otherwise what is wrong with it, as the rest of a sentence. */
type Flaw = string | null

export class Seals {
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly #newest: string | null

  /** `variables`: comma-separated secrets by the name of their variable, the newest first. The first key of all is the newest. */
  constructor(variables: Readonly<Record<string, string | undefined>>) {
    const keys = Object.entries(variables).flatMap(([name, secrets = '']) =>
      secrets.split(',').flatMap((part) => {
        const secret = part.trim()
        if (secret === '') return []
        return [[derive(name, secret, 'id', 6).toString('base64url'), derive(name, secret, 'seal', 32)] as const]
      }),
    )
    this.#keys = new Map(keys)
    this.#newest = keys[0]?.[0] ?? null
  }

  get hasKey(): boolean {
    return this.#newest !== null
  }

  flawOf(seal: string, text: string): Flaw {
    const id = KEYED.exec(seal)?.[1]
    if (id === undefined && this.hasKey) return 'is not sealed with the seal key'
    if (id === undefined) return seal === digest(text) ? null : 'does not match its hash'
    const key = this.#keys.get(id)
    if (key === undefined) return `is sealed with key ${id}, which TRIHAND_SEAL_KEY does not have`
    return seal === keyed(id, key, text) ? null : 'does not match its seal'
  }

  /** Seals with the newest key, which must exist. */
  seal(text: string): string {
    const id = this.#newest ?? ''
    return keyed(id, this.#keys.get(id) ?? Buffer.alloc(0), text)
  }

  isKeyed(seal: string): boolean {
    return KEYED.test(seal)
  }
}

const keyed = (id: string, key: Buffer, text: string): string =>
  `h1:${id}:${createHmac('sha256', key).update(text).digest('base64url')}`
