/**
 * Who is asking and what they may do: a tenant, a name, a kind, roles and groups, all from one credential.
 *
 * Owns which role grants which access. Never depends on how a credential is read (http/) or on whom a task is addressed to (model/task/rights.ts).
 *
 * identity-1  Roles are a set, not a ladder: each lets its holder view, none includes another.
 * identity-2  Only a person decides, whatever roles a service or an agent has.
 * identity-3  A request may lower the kind of its credential, never raise it: no agent becomes a person.
 */
import type { TenantId } from '#model/kernel/ids.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import type { Identity } from '#model/task/spec.ts'

export const ROLES = ['viewer', 'decider', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const KINDS = ['user', 'service', 'agent'] as const
export type Kind = (typeof KINDS)[number]

/** What an operation requires of its caller. `public`: nothing. */
export type Access = 'public' | Role

export interface Caller extends Identity {
  readonly tenant: TenantId
  readonly kind: Kind
  readonly roles: readonly Role[]
}

/** Null: this caller is allowed. */
export const forbidAccess = (caller: Pick<Caller, 'id' | 'kind' | 'roles'>, access: Access): Refusal | null => {
  if (access === 'public') return null
  if (access === 'decider' && caller.kind !== 'user')
    return refuse('AGENT_CANNOT_DECIDE', `${caller.id} is of kind ${caller.kind}; only a person decides`)
  const isEnough = access === 'viewer' ? caller.roles.length > 0 : caller.roles.includes(access)
  if (isEnough) return null
  const own = caller.roles.length === 0 ? 'none' : caller.roles.join(', ')
  return refuse('ROLE_MISSING', `this needs the role ${access}; ${caller.id} has ${own}`)
}

/** For other operations that only people may use, besides deciding tasks. Null: the caller is a person. */
export const forbidProgram = ({ id, kind }: Pick<Caller, 'id' | 'kind'>, what: string): Refusal | null =>
  kind === 'user' ? null : refuse('AGENT_CANNOT_DECIDE', `${id} is of kind ${kind}; only a person ${what}`)

/** identity-3. `said` null: the request states no kind. */
export const lowered = <Who extends Pick<Caller, 'kind'>>(caller: Who, said: Kind | null): Who =>
  said === null || caller.kind !== 'user' ? caller : { ...caller, kind: said }
