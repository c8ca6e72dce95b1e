/**
 * Who is asking and what they may do: a tenant, a name, a kind, roles and groups, all from one credential.
 *
 * Owns which role opens which door. Never knows how a credential is read (http/) nor to whom a task is addressed (task-rights.ts).
 *
 * identity-1  Roles are a set, not a ladder: each lets its holder look, none includes another.
 * identity-2  Only a person decides, whatever roles a service or an agent has.
 * identity-3  A request may make less of its credential's kind, never more: no agent becomes a person.
 */
import type { TenantId } from '#model/kernel/ids.ts'
import { type Refusal, refuse } from '#model/kernel/machine.ts'
import type { Identity } from '#model/task/spec.ts'

export const ROLES = ['viewer', 'decider', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const KINDS = ['user', 'service', 'agent'] as const
export type Kind = (typeof KINDS)[number]

/** What an operation asks of its caller. `public`: nothing. */
export type Access = 'public' | Role

export interface Caller extends Identity {
  readonly tenant: TenantId
  readonly kind: Kind
  readonly roles: readonly Role[]
}

/** Null: this caller may. */
export const forbidAccess = (caller: Pick<Caller, 'id' | 'kind' | 'roles'>, access: Access): Refusal | null => {
  if (access === 'public') return null
  if (access === 'decider' && caller.kind !== 'user')
    return refuse('AGENT_CANNOT_DECIDE', `${caller.id} is of kind ${caller.kind}; only a person decides`)
  const isEnough = access === 'viewer' ? caller.roles.length > 0 : caller.roles.includes(access)
  if (isEnough) return null
  const own = caller.roles.length === 0 ? 'none' : caller.roles.join(', ')
  return refuse('ROLE_MISSING', `this needs the role ${access}; ${caller.id} has ${own}`)
}

/** For what only people may do beside deciding tasks. Null: a person asks. */
export const forbidProgram = ({ id, kind }: Pick<Caller, 'id' | 'kind'>, what: string): Refusal | null =>
  kind === 'user' ? null : refuse('AGENT_CANNOT_DECIDE', `${id} is of kind ${kind}; only a person ${what}`)

/** identity-3. Null: the request says nothing of it. */
export const lowered = <Who extends Pick<Caller, 'kind'>>(caller: Who, said: Kind | null): Who =>
  said === null || caller.kind !== 'user' ? caller : { ...caller, kind: said }
