/**
 * The login cookie of a browser: the public name of its token, the login's own id and when it ends, signed. Never the token itself.
 *
 * Owns the text of the cookie. For each request auth.ts checks whether the token is still valid and whether the person has logged out.
 *
 * cookie-1  A cookie that was changed, was signed with another key or has expired is not accepted.
 */
import { createHmac } from 'node:crypto'
import type { Instant } from '#model/kernel/ids.ts'
import { isSameSecret } from './secret.ts'

const NAME = 'trihand_session'
const LIFE_MS = 12 * 3_600_000
const RADIX = 36

const signatureOf = (text: string, key: string): string => createHmac('sha256', key).update(text).digest('base64url')

interface CookieOptions {
  readonly key: string
  readonly isSecure: boolean
}

const attributes = (isSecure: boolean, seconds: number): string =>
  `Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`

/** The header that logs in. `id`: the random id of this login. */
export const loginCookie = (token: string, id: string, now: Instant, { key, isSecure }: CookieOptions): string => {
  const text = `${token}.${id}.${(now + LIFE_MS).toString(RADIX)}`
  return `${NAME}=${text}.${signatureOf(text, key)}; ${attributes(isSecure, LIFE_MS / 1_000)}`
}

export const logoutCookie = ({ isSecure }: Pick<CookieOptions, 'isSecure'>): string =>
  `${NAME}=; ${attributes(isSecure, 0)}`

const valueIn = (header: string): string | null => {
  const pair = header.split(';').find((part) => part.trim().startsWith(`${NAME}=`))
  return pair === undefined ? null : pair.trim().slice(NAME.length + 1)
}

export interface Login {
  /** The public name of the token that it was made with. */
  readonly token: string
  /** The id of this login: logging out ends this login and no other. */
  readonly id: string
  readonly until: Instant
}

/** cookie-1. Null: there is no valid login. */
export const readLogin = (header: string | undefined, now: Instant, key: string): Login | null => {
  const [token = '', id = '', end = '', signature = ''] = (valueIn(header ?? '') ?? '').split('.')
  if (key === '' || !isSameSecret(signature, signatureOf(`${token}.${id}.${end}`, key))) return null
  const until = Number.parseInt(end, RADIX)
  return until > now ? { token, id, until } : null
}
