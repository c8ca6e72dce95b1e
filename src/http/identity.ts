/**
 * Who is asking, on a server that only this machine reaches: whoever the caller says, as a person, a service or an agent.
 *
 * Owns the reading of that word. Never guesses one: who names nobody is nobody, and nobody decides.
 */
import type { Context } from 'hono'
import { TrihandError } from '../model/errors.ts'
import { isPlainText } from '../model/ids.ts'
import type { Identity } from '../model/task-spec.ts'

const MAX_LENGTH = 255
const KINDS = ['user', 'service', 'agent'] as const

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

/** Null: the caller does not say. */
export const identityOf = (context: Context): Identity | null => {
  const id = headerOf(context, 'x-trihand-user')
  if (id === null) return null
  const given = headerOf(context, 'x-trihand-kind') ?? 'user'
  const kind = KINDS.find((word) => word === given)
  if (kind === undefined)
    throw new TrihandError('UNAUTHENTICATED', `x-trihand-kind is "${given}"; expected one of ${KINDS.join(', ')}`)
  const groups = (headerOf(context, 'x-trihand-groups') ?? '').split(',').map((name) => name.trim())
  return { id, kind, groups: groups.filter((name) => name !== '') }
}

export const demandIdentity = (context: Context): Identity => {
  const identity = identityOf(context)
  if (identity === null) throw new TrihandError('UNAUTHENTICATED', 'a task is decided by somebody: nobody is named')
  return identity
}
