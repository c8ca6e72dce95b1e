/**
 * Who is asking, as the request was found to say: kept with it, so that it is resolved once.
 *
 * Owns the reading of names on a server that only this machine reaches. Never guesses one: who names nobody is nobody, and nobody
 * decides.
 */
import type { Context } from 'hono'
import { type Caller, forbidAccess, forbidProgram, KINDS, type Kind, ROLES } from '#model/access/identity.ts'
import type { AskedBy } from '#model/access/requester.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, isPlainText, LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Identity } from '#model/task/spec.ts'

export interface Asking {
  readonly caller: Caller
  /** False: somebody at this machine who has not said their name. */
  readonly isNamed: boolean
  /** The person whose credential it is, also where the request says that a program works with it; null: no person's, or nobody is named. */
  readonly person: string | null
  /** What stands for the caller: what goes on under it ends with it. Null: it is not asked for here, or has no end. */
  readonly credential: Credential | null
}

/** A token by its public name, and until when it counts if nobody revokes it. */
export interface Credential {
  readonly token: string
  /** The name of a browser's login; null: the token itself was sent. */
  readonly login: string | null
  readonly until: Instant
}

const MAX_LENGTH = 255
const KEY = 'asking'
/** What somebody at this machine is called until they say it. */
const NOBODY = 'local'

const plain = (text: string, header: string): string => {
  if (!isPlainText(text, MAX_LENGTH)) throw new TrihandError('UNAUTHENTICATED', `${header} is no plain name`)
  return text
}

const headerOf = (context: Context, name: string): string | null => {
  const text = context.req.header(name)
  if (text === undefined) return null
  try {
    return plain(decodeURIComponent(text).trim(), name)
  } catch (error) {
    if (error instanceof TrihandError) throw error
    throw new TrihandError('UNAUTHENTICATED', `${name} is not percent-encoded`, { cause: error })
  }
}

/** Null: the request does not say. */
export const kindOf = (context: Context): Kind | null => {
  const given = headerOf(context, 'x-trihand-kind')
  if (given === null) return null
  const kind = KINDS.find((word) => word === given)
  if (kind === undefined)
    throw new TrihandError('UNAUTHENTICATED', `x-trihand-kind is "${given}"; expected one of ${KINDS.join(', ')}`)
  return kind
}

/** On loopback: whoever the caller says, with all roles. */
export const askedLocally = (context: Context): Asking => {
  const id = headerOf(context, 'x-trihand-user')
  const groups = (headerOf(context, 'x-trihand-groups') ?? '').split(',').map((name) => name.trim())
  const who = { id: id ?? NOBODY, kind: kindOf(context) ?? 'user', groups: groups.filter((name) => name !== '') }
  const caller = { tenant: LOCAL_TENANT, ...who, roles: ROLES }
  return { caller, isNamed: id !== null, person: who.kind === 'service' ? null : id, credential: null }
}

export const keepAsking = (context: Context, asking: Asking): void => context.set(KEY, asking)

/** Null: the route is public, and nobody was asked. */
export const askingOf = (context: Context): Asking | null => (context.get(KEY) as Asking | undefined) ?? null

/** Null: the caller does not say. */
export const identityOf = (context: Context): Identity | null => {
  const asking = askingOf(context)
  return asking?.isNamed === true ? asking.caller : null
}

/** Null: whoever asks may decide nothing, to whomever a task is addressed. */
export const deciderOf = (context: Context): Identity | null => {
  const asking = askingOf(context)
  return asking?.isNamed === true && forbidAccess(asking.caller, 'decider') === null ? asking.caller : null
}

/** For whom something is sent or started: a person who is named may send what only people send, and is the requester of what follows. */
export const askedBy = (context: Context): AskedBy => {
  const by = identityOf(context)
  const person = askingOf(context)?.person ?? null
  return { ...(by !== null && { by }), ...(person !== null && { requester: person }) }
}

export const requireIdentity = (context: Context): Identity => {
  const identity = identityOf(context)
  if (identity === null) throw new TrihandError('UNAUTHENTICATED', 'a task is decided by somebody: nobody is named')
  return identity
}

/** Refuses who may not decide, at a door that does more than decide and so asks for another role. */
export const requireDecider = (context: Context): Identity => {
  const refusal = forbidAccess(requireCaller(context), 'decider')
  if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
  return requireIdentity(context)
}

/** Refuses agents and services. */
export const requirePerson = (context: Context, what: string): Caller => {
  const caller = requireCaller(context)
  const refusal = forbidProgram(caller, what)
  if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
  return caller
}

export const requireCaller = (context: Context): Caller => {
  const asking = askingOf(context)
  if (asking === null) throw new TrihandError('UNAUTHENTICATED', 'there is no credential with this request')
  return asking.caller
}

/** Under whose name a command is recorded. */
export const callerName = (context: Context): string => askingOf(context)?.caller.id ?? NOBODY
