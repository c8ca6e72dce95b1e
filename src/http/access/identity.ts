/**
 * The caller of a request, kept in its context so that it is resolved once.
 *
 * Owns the reading of caller names on a server that only this machine can reach. Never guesses one: a caller without a name stays anonymous
 * and cannot decide.
 */
import type { Context } from 'hono'
import { type Caller, forbidAccess, forbidProgram, KINDS, type Kind, ROLES } from '#model/access/identity.ts'
import type { AskedBy } from '#model/access/requester.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Instant, isPlainText, LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Identity } from '#model/task/spec.ts'

export interface Asking {
  readonly caller: Caller
  /** False: a caller on this machine that has not given a name. */
  readonly isNamed: boolean
  /**
   * The person that the credential belongs to, also where the request says that a program uses it; null: it belongs to no person, or no
   * name was given.
   */
  readonly person: string | null
  /** The caller's credential: streams that were opened with it end with it. Null: none is needed here, or it never ends. */
  readonly credential: Credential | null
}

/** A token by its public name, and when it expires unless it is revoked earlier. */
export interface Credential {
  readonly token: string
  /** The id of a browser's login; null: the token itself was sent. */
  readonly login: string | null
  readonly until: Instant
}

const MAX_LENGTH = 255
const KEY = 'asking'
/** The name of a caller on this machine that has not given one. */
const NOBODY = 'local'

const plain = (text: string, header: string): string => {
  if (!isPlainText(text, MAX_LENGTH)) throw new TrihandError('UNAUTHENTICATED', `${header} is not a valid name`)
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

/** On loopback: the caller that the headers name, with all roles. */
export const askedLocally = (context: Context): Asking => {
  const id = headerOf(context, 'x-trihand-user')
  const groups = (headerOf(context, 'x-trihand-groups') ?? '').split(',').map((name) => name.trim())
  const who = { id: id ?? NOBODY, kind: kindOf(context) ?? 'user', groups: groups.filter((name) => name !== '') }
  const caller = { tenant: LOCAL_TENANT, ...who, roles: ROLES }
  return { caller, isNamed: id !== null, person: who.kind === 'service' ? null : id, credential: null }
}

export const keepAsking = (context: Context, asking: Asking): void => context.set(KEY, asking)

/** Null: the route is public, and no caller was resolved. */
export const askingOf = (context: Context): Asking | null => (context.get(KEY) as Asking | undefined) ?? null

/** Null: the caller gave no name. */
export const identityOf = (context: Context): Identity | null => {
  const asking = askingOf(context)
  return asking?.isNamed === true ? asking.caller : null
}

/** Null: the caller may not decide any task. */
export const deciderOf = (context: Context): Identity | null => {
  const asking = askingOf(context)
  return asking?.isNamed === true && forbidAccess(asking.caller, 'decider') === null ? asking.caller : null
}

/**
 * On whose behalf an event is sent or a run is started: a named person may send what only people may send, and is the requester of what
 * follows.
 */
export const askedBy = (context: Context): AskedBy => {
  const by = identityOf(context)
  const person = askingOf(context)?.person ?? null
  return { ...(by !== null && { by }), ...(person !== null && { requester: person }) }
}

export const requireIdentity = (context: Context): Identity => {
  const identity = identityOf(context)
  if (identity === null) throw new TrihandError('UNAUTHENTICATED', 'a decision on a task needs the name of a person')
  return identity
}

/** Refuses a caller who may not decide, on a route that does more than decide and so requires another role. */
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
  if (asking === null) throw new TrihandError('UNAUTHENTICATED', 'this request has no credential')
  return asking.caller
}

/** The name under which a command is recorded. */
export const callerName = (context: Context): string => askingOf(context)?.caller.id ?? NOBODY
