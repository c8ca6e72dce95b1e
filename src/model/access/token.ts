/**
 * A credential as the ledger stores it: the hash of the token, never the token itself, and who it stands for.
 *
 * Owns which tokens may exist and when one counts. Never sees or creates the secret.
 *
 * token-1  A token that has expired or was revoked identifies no caller.
 * token-2  Only tokens of people may have the decider role.
 */
import { type Instant, isPlainText, isTenantId, type TenantId, type TokenId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import { type Caller, KINDS, type Kind, ROLES, type Role } from './identity.ts'

export interface TokenSpec {
  readonly tenant: TenantId
  /** The person, service or agent that the token identifies. */
  readonly name: string
  readonly kind: Kind
  readonly roles: readonly Role[]
  readonly groups: readonly string[]
}

export interface TokenRecord extends TokenSpec {
  readonly id: TokenId
  /** sha256 of the secret. */
  readonly hash: string
  readonly createdAt: Instant
  readonly createdBy: string
  readonly expiresAt: Instant
  readonly revokedAt: Instant | null
}

const MAX_NAME = 255
const MAX_GROUPS = 100

/** The input of a caller, not yet validated. */
export interface TokenIntent {
  readonly tenant: string
  readonly name: string
  readonly kind: string
  readonly roles: readonly string[]
  readonly groups: readonly string[]
}

/** The problem with the input; null: none. */
const misfit = ({ tenant, name, kind, roles, groups }: TokenIntent): string | null => {
  const [badRole] = roles.filter((role) => !ROLES.some((known) => known === role))
  if (!isTenantId(tenant)) return `tenant is "${tenant}"; expected at most 63 lower-case letters, digits, - and _`
  if (!isPlainText(name, MAX_NAME)) return `name must have 1 to ${MAX_NAME} characters and no control characters`
  if (!KINDS.some((known) => known === kind)) return `kind is "${kind}"; expected one of ${KINDS.join(', ')}`
  if (roles.length === 0) return `roles are missing; expected one or more of ${ROLES.join(', ')}`
  if (badRole !== undefined) return `role is "${badRole}"; expected one or more of ${ROLES.join(', ')}`
  if (kind !== 'user' && roles.includes('decider'))
    return `a token of kind ${kind} cannot have the role decider: only people decide`
  if (groups.length > MAX_GROUPS || groups.some((group) => !isPlainText(group, MAX_NAME) || group.includes(',')))
    return `groups must be at most ${MAX_GROUPS} plain names without a comma`
  return null
}

export const tokenSpec = (intent: TokenIntent): TokenSpec | Refusal => {
  const problem = misfit(intent)
  if (problem !== null) return refuse('TOKEN_INVALID', problem)
  const roles = ROLES.filter((role) => intent.roles.includes(role))
  return { ...intent, roles, groups: [...new Set(intent.groups)] } as unknown as TokenSpec
}

/** token-1. Null: the token does not count now. */
export const callerOf = (token: TokenRecord, now: Instant): Caller | null => {
  if (token.revokedAt !== null || now >= token.expiresAt) return null
  const { tenant, name, kind, roles, groups } = token
  return { tenant, id: name, kind, roles, groups }
}

export const toTokenJson = (token: TokenRecord): Json => ({
  ...token,
  roles: [...token.roles],
  groups: [...token.groups],
})

/** Reads what `toTokenJson` wrote. Null: the value is something else, and no credential. */
export const fromTokenJson = (value: Json): TokenRecord | null => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  const token = value as unknown as TokenRecord
  const isWhole = typeof token.hash === 'string' && typeof token.expiresAt === 'number' && Array.isArray(token.roles)
  return isWhole ? token : null
}

export const tokenStatus = ({ revokedAt, expiresAt }: TokenRecord, now: Instant): 'active' | 'expired' | 'revoked' => {
  if (revokedAt !== null) return 'revoked'
  return now >= expiresAt ? 'expired' : 'active'
}
