/**
 * Decrypts the payloads of an encrypted ledger for the checker. Implemented a second time here, from the description of the format.
 *
 * A payload is `enc1:<key id>:<nonce>:<AES-256-GCM>[:<marks>]`, in base64url, with tenant, place and marks as additional data. Keys are
 * HKDF-SHA256 of the secret. The ledger has a secret of its own, which its record holds encrypted with each key. Waits are stored as tokens
 * (HMAC, 96 bits), one for each name and each value.
 *
 * A payload that cannot be decrypted is returned as it is stored, so that the checks report it as unreadable.
 */
import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { canonicalText } from '#cli/verify/source/json-path.ts'

const NAME = 'TRIHAND_LEDGER_KEY'
const HIDDEN = /^enc1:([\w-]{8}):([\w-]{16}):([\w-]*)(?::(.*))?$/
const TAG = 16
const TOKEN = 16

export interface Match {
  readonly path: string
  readonly value: string
}

const derive = (secret: string, purpose: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'trihand', `${NAME} ${purpose}`, bytes))

export class Opened {
  readonly #secrets: ReadonlyMap<string, string>
  readonly #derived = new Map<string, Buffer>()
  /** The ledger's own secret, from which tokens and seals are made; null: the ledger is not encrypted. */
  readonly own: string | null

  /** `secrets`: comma-separated; `wrapped`: the ledger's own secret, encrypted with some of their keys. */
  constructor(secrets: string | undefined, wrapped: readonly string[]) {
    const given = (secrets ?? '').split(',').flatMap((secret) => (secret.trim() === '' ? [] : [secret.trim()]))
    this.#secrets = new Map(given.map((secret) => [derive(secret, 'id', 6).toString('base64url'), secret]))
    this.own = wrapped.map((one) => this.#decrypted('', 'ledger secret', one)).find((secret) => secret !== null) ?? null
  }

  get isEncrypted(): boolean {
    return this.own !== null
  }

  /** True if all these keys are among the given ones. */
  hasKeys(ids: readonly string[]): boolean {
    return ids.every((id) => this.#secrets.has(id))
  }

  fact(tenant: string, stream: string, seq: number, body: string): string {
    return this.#shown(tenant, `fact\n${stream}\n${seq}`, body)
  }

  event({
    tenant,
    source,
    id,
    type,
    data,
  }: Readonly<Record<'tenant' | 'source' | 'id' | 'type' | 'data', string>>): string {
    if (!this.isEncrypted) return data
    return this.#shown(tenant, `event\n${source}\n${id}\n${type}`, contentOf(data))
  }

  /** The name of a blob with this hash. */
  blobName(hash: string): string {
    return this.isEncrypted ? `enc1_${this.#token('blob', hash)}` : hash
  }

  blob(name: string, body: string): string {
    return this.#shown('', `blob\n${name}`, body)
  }

  /** A wait in the form of its row. */
  wait(tenant: string, type: string, match: Match): Match {
    if (!this.isEncrypted || match.path === '') return match
    const path = match.path.split('.').map((key) => this.#token(tenant, `name\n${type}\n${key}`))
    const tree = this.#tree(tenant, type, match.path, JSON.parse(match.value))
    return { path: path.join('.'), value: canonicalText(JSON.stringify(tree)) ?? '' }
  }

  #tree(tenant: string, type: string, path: string, value: unknown): unknown {
    if (value === null || typeof value !== 'object')
      return this.#token(tenant, `value\n${type}\n${path}\n${canonicalText(JSON.stringify(value))}`)
    const members = Object.entries(value).map(([key, member]) => [
      this.#token(tenant, `name\n${type}\n${key}`),
      this.#tree(tenant, type, `${path}.${key}`, member),
    ])
    return Object.fromEntries(Array.isArray(value) ? [['#', 1], ...members] : members)
  }

  #token(scope: string, text: string): string {
    const key = this.#key(this.own ?? '', `token ${scope}`)
    return createHmac('sha256', key).update(text).digest('base64url').slice(0, TOKEN)
  }

  #shown(tenant: string, place: string, stored: string): string {
    return this.isEncrypted ? (this.#decrypted(tenant, place, stored) ?? stored) : stored
  }

  #decrypted(tenant: string, place: string, stored: string): string | null {
    const [, id = '', nonce = '', content = '', marks = ''] = HIDDEN.exec(stored) ?? []
    const secret = this.#secrets.get(id)
    const bytes = Buffer.from(content, 'base64url')
    const end = bytes.length - TAG
    if (secret === undefined || end < 0) return null
    try {
      const key = this.#key(secret, `tenant ${tenant}`)
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: TAG })
      decipher.setAAD(Buffer.from(`${tenant}\n${place}\n${marks}`)).setAuthTag(bytes.subarray(end))
      return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString()
    } catch {
      return null
    }
  }

  #key(secret: string, purpose: string): Buffer {
    const name = `${secret} ${purpose}`
    const known = this.#derived.get(name) ?? derive(secret, purpose, 32)
    this.#derived.set(name, known)
    return known
  }
}

const contentOf = (data: string): string => {
  try {
    return String((JSON.parse(data) as { readonly enc1?: unknown } | null)?.enc1)
  } catch {
    return data
  }
}
