/**
 * Credentials: created, looked up, listed, revoked. They are documents of the server itself, where no tenant's code can write.
 *
 * Owns the rule that a secret is returned once and stored as its hash. Callers check who may create one; token-watch.ts notifies watchers
 * of its end.
 *
 * tokens-1  The ledger never holds a secret.
 * tokens-2  A lookup that fails throws; a failure is never taken for an answer.
 * tokens-3  A login that has ended is valid nowhere again, on whichever server it was ended; other logins of the same token stay valid.
 */
import type { Caller, Role } from '#model/access/identity.ts'
import {
  callerOf,
  fromTokenJson,
  type TokenIntent,
  type TokenRecord,
  tokenSpec,
  toTokenJson,
} from '#model/access/token.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, isTokenId, SERVER_TENANT, type TenantId, type TokenId, tokenId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { TokenWatch } from './token-watch.ts'

export interface TokensDeps {
  note(documents: readonly DocumentWrite[]): Promise<void>
  readonly reader: Pick<Reader, 'document' | 'documents'>
  readonly clock: Pick<Clock, 'now' | 'at'>
  readonly ids: Pick<Ids, 'digest'>
  /** Returns 32 random bytes as text. */
  readonly secret: () => string
}

export interface NewToken {
  /** The secret. Shown now and never again. */
  readonly token: string
  readonly record: TokenRecord
}

const TABLE = 'trihand.token'
/** Table of logins that were ended before they expired: login name to expiry. */
const ENDED_TABLE = 'trihand.logout'
const PREFIX = 'th_'
const PAGE = 200
const MAX_LIFE_MS = 366 * 86_400_000
const USUAL_LIFE_MS = 90 * 86_400_000

export class Tokens {
  private readonly deps: TokensDeps
  private readonly watched: TokenWatch

  constructor(deps: TokensDeps) {
    this.deps = deps
    const counts = async (id: string): Promise<boolean> =>
      isTokenId(id) ? (await this.callerById(id)) !== null : !(await this.hasLoggedOut(id))
    this.watched = new TokenWatch({ clock: deps.clock, counts })
  }

  async create(intent: TokenIntent, by: string, lifeMs: number = USUAL_LIFE_MS): Promise<NewToken> {
    const spec = tokenSpec(intent)
    if ('code' in spec) throw new TrihandError(spec.code, spec.detail)
    if (!Number.isSafeInteger(lifeMs) || lifeMs < 1 || lifeMs > MAX_LIFE_MS)
      throw new TrihandError('TOKEN_INVALID', 'expires_in must be more than 0 and at most 366 days')
    const { clock, ids, secret } = this.deps
    const token = `${PREFIX}${secret()}`
    const hash = ids.digest(token)
    const now = clock.now()
    const about = { createdAt: now, createdBy: by, expiresAt: now + lifeMs, revokedAt: null }
    const record = { id: tokenId(hash), hash, ...spec, ...about }
    await this.put(record)
    return { token, record }
  }

  get now(): Instant {
    return this.deps.clock.now()
  }

  /** The public name of a token, known or not. */
  idOf(token: string): TokenId {
    return tokenId(this.deps.ids.digest(token))
  }

  /** Returns the caller of a token; null if the token is unknown, revoked or expired. */
  async callerOf(token: string): Promise<Caller | null> {
    if (!token.startsWith(PREFIX)) return null
    const hash = this.deps.ids.digest(token)
    const record = await this.find(tokenId(hash))
    return record === null || record.hash !== hash ? null : callerOf(record, this.deps.clock.now())
  }

  /** The same by the token's public id, for a login that was made with the token. */
  async callerById(id: string): Promise<Caller | null> {
    const record = isTokenId(id) ? await this.find(id) : null
    return record === null ? null : callerOf(record, this.deps.clock.now())
  }

  /** tokens-3. `until`: when the login would have expired. Entries of expired logins are deleted with the next call. */
  async endLogin(login: string, until: Instant): Promise<void> {
    const { reader, clock, note } = this.deps
    const now = clock.now()
    const old = await reader.documents({ tenant: SERVER_TENANT, table: ENDED_TABLE, after: null, limit: PAGE })
    const over = old.filter(({ value }) => typeof value === 'number' && value <= now)
    const entry = (key: string, value: Json) => ({ tenant: SERVER_TENANT, table: ENDED_TABLE, key, value })
    await note([entry(login, until), ...over.filter(({ key }) => key !== login).map(({ key }) => entry(key, null))])
    this.watched.revoked(login)
  }

  async hasLoggedOut(login: string): Promise<boolean> {
    return (await this.deps.reader.document(SERVER_TENANT, ENDED_TABLE, login)) !== null
  }

  /** Calls back once, when this token or login is no longer valid or `until` has come. The returned function stops the watch. */
  watch(id: string, until: Instant, over: () => void): () => void {
    return this.watched.watch(id, until, over)
  }

  /** Returns the tokens of one tenant, or of all tenants if null; newest first. */
  async list(tenant: TenantId | null): Promise<readonly TokenRecord[]> {
    const found: TokenRecord[] = []
    for (let after: string | null = null; ; ) {
      const page = await this.deps.reader.documents({ tenant: SERVER_TENANT, table: TABLE, after, limit: PAGE })
      found.push(...page.map(({ value }) => fromTokenJson(value)).filter((token) => token !== null))
      if (page.length < PAGE) break
      after = page.at(-1)?.key ?? null
    }
    return found
      .filter((token) => tenant === null || token.tenant === tenant)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
  }

  /** True if any valid token has this role. */
  async hasAny(role: Role): Promise<boolean> {
    const { now } = this
    return (await this.list(null)).some((token) => callerOf(token, now)?.roles.includes(role) === true)
  }

  /** Revokes a token, for the next request and for open streams. A second call changes nothing. */
  async revoke(id: string, tenant: TenantId | null): Promise<TokenRecord> {
    const record = isTokenId(id) ? await this.find(id) : null
    if (record === null || (tenant !== null && record.tenant !== tenant))
      throw new TrihandError('NOT_FOUND', `there is no token ${id}`)
    if (record.revokedAt !== null) return record
    const revoked = { ...record, revokedAt: this.deps.clock.now() }
    await this.put(revoked)
    this.watched.revoked(record.id)
    return revoked
  }

  private async find(id: TokenId): Promise<TokenRecord | null> {
    return fromTokenJson(await this.deps.reader.document(SERVER_TENANT, TABLE, id))
  }

  private put(record: TokenRecord): Promise<void> {
    return this.deps.note([{ tenant: SERVER_TENANT, table: TABLE, key: record.id, value: toTokenJson(record) }])
  }
}
