/**
 * A session's head: a state document, a version and the chain of its checkpoints.
 *
 * Owns what a change and a checkpoint are, and where a fork begins. Values are payloads: large ones are blobs shared by hash.
 * Never loads a blob and never hashes: roots arrive in the command.
 *
 * session-1  A checkpoint names the root hash of the whole document and its parents; checkpoints never change.
 * session-2  A fork begins at one checkpoint with that checkpoint's root, not at a chain of patches: its cost does not depend on the history.
 * session-3  A change that carries a key is applied once, however often it is sent before the next checkpoint.
 */
import type { Instant, SessionId } from '#model/kernel/ids.ts'
import { type Decision, facts, fold, type Machine, refuse } from '#model/kernel/machine.ts'
import type { Payload } from '#model/kernel/payload.ts'

export type SessionMode = 'interactive' | 'scheduled' | 'daemon' | 'batch' | 'hierarchical'

export interface Checkpoint {
  readonly id: string
  readonly parents: readonly string[]
  /** Hash of the document, which is stored as a blob of that name. */
  readonly root: string
}

/** Where a fork or an import takes its first document from. */
export interface SessionBase {
  readonly session: SessionId | null
  readonly checkpoint: Checkpoint
}

/** Named values of the session's memory. */
export type SessionDocument = { readonly [key: string]: Payload }

type At = { readonly at: Instant }

export type SessionFact =
  | (At & { readonly type: 'session.created'; readonly mode: SessionMode; readonly base: SessionBase | null })
  | (At & {
      readonly type: 'session.changed'
      readonly key: string | null
      readonly set: SessionDocument
      readonly unset: readonly string[]
    })
  | (At & { readonly type: 'session.checkpointed'; readonly mode: SessionMode; readonly checkpoint: Checkpoint })
  | (At & { readonly type: 'session.ended'; readonly reason: string })

export type SessionFactType = SessionFact['type']

type Now = { readonly now: Instant }

export type SessionCommand =
  | (Now & { readonly type: 'create_session'; readonly mode: SessionMode; readonly base: SessionBase | null })
  | (Now & {
      readonly type: 'change_session'
      readonly key: string | null
      readonly set: SessionDocument
      readonly unset: readonly string[]
    })
  /** `root` is the hash of the current document; the caller has stored the document. */
  | (Now & { readonly type: 'checkpoint_session'; readonly id: string; readonly root: string })
  | (Now & { readonly type: 'end_session'; readonly reason: string })

export interface LiveSession {
  readonly kind: 'live'
  readonly mode: SessionMode
  readonly head: Checkpoint | null
  /** The changes since `head`; the whole document is the head's document with these applied. Null marks a removed key. */
  readonly changes: ReadonlyMap<string, Payload | null>
  readonly appliedKeys: ReadonlySet<string>
}

export type SessionState =
  | { readonly kind: 'none' }
  | LiveSession
  | { readonly kind: 'ended'; readonly last: LiveSession; readonly reason: string }

const decideLive = (session: LiveSession, command: SessionCommand): Decision<SessionFact> => {
  switch (command.type) {
    case 'create_session':
      return facts()
    case 'change_session': {
      // session-3
      if (command.key !== null && session.appliedKeys.has(command.key)) return facts()
      const { now: at, key, set, unset } = command
      return facts({ type: 'session.changed', at, key, set, unset })
    }
    case 'checkpoint_session': {
      if (session.changes.size === 0 && session.head !== null) return facts()
      // session-1: the parent is named and never changed.
      const parents = session.head === null ? [] : [session.head.id]
      return facts({
        type: 'session.checkpointed',
        at: command.now,
        mode: session.mode,
        checkpoint: { id: command.id, parents, root: command.root },
      })
    }
    case 'end_session':
      return facts({ type: 'session.ended', at: command.now, reason: command.reason })
  }
}

const change = (
  session: LiveSession,
  fact: Extract<SessionFact, { readonly type: 'session.changed' }>,
): LiveSession => {
  const changes = new Map(session.changes)
  for (const [key, payload] of Object.entries(fact.set)) changes.set(key, payload)
  for (const key of fact.unset) changes.set(key, null)
  const appliedKeys = fact.key === null ? session.appliedKeys : new Set([...session.appliedKeys, fact.key])
  return { ...session, changes, appliedKeys }
}

const evolveLive = (session: LiveSession, fact: SessionFact): SessionState => {
  switch (fact.type) {
    case 'session.created':
      return session
    case 'session.changed':
      return change(session, fact)
    case 'session.checkpointed':
      return { ...session, head: fact.checkpoint, changes: new Map(), appliedKeys: new Set() }
    case 'session.ended':
      return { kind: 'ended', last: session, reason: fact.reason }
  }
}

export const session: Machine<SessionState, SessionCommand, SessionFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    switch (state.kind) {
      case 'none':
        if (command.type !== 'create_session') return refuse('NOT_FOUND', 'the session does not exist')
        return facts({ type: 'session.created', at: command.now, mode: command.mode, base: command.base })
      case 'live':
        return decideLive(state, command)
      case 'ended':
        return refuse('SESSION_STATE_INVALID', 'the session has ended; fork it to continue')
    }
  },

  evolve(state, fact) {
    if (state.kind === 'live') return evolveLive(state, fact)
    if (state.kind === 'ended' || fact.type !== 'session.created') return state
    // session-2: the head of a fork is the checkpoint itself; nothing of the parent's history is read.
    return {
      kind: 'live',
      mode: fact.mode,
      head: fact.base?.checkpoint ?? null,
      changes: new Map(),
      appliedKeys: new Set(),
    }
  },
}

/** The state after these last facts of a session; null if neither a checkpoint nor the creation is among them. */
export const resumeFrom = (tail: readonly SessionFact[]): SessionState | null => {
  const start = tail.findLastIndex((fact) => fact.type === 'session.checkpointed' || fact.type === 'session.created')
  const fact = tail[start]
  if (fact === undefined) return null
  if (fact.type !== 'session.checkpointed') return fold(session, tail.slice(start))
  const at: LiveSession = {
    kind: 'live',
    mode: fact.mode,
    head: fact.checkpoint,
    changes: new Map(),
    appliedKeys: new Set(),
  }
  return fold(session, tail.slice(start + 1), at as SessionState)
}

/** The whole document: the head's document with the changes applied. */
export const documentOf = (state: LiveSession, atHead: SessionDocument): SessionDocument => {
  // Through a Map: assigning the key `__proto__` to an object would set its prototype.
  const document = new Map(Object.entries(atHead))
  for (const [key, payload] of state.changes) {
    if (payload === null) document.delete(key)
    else document.set(key, payload)
  }
  return Object.fromEntries(document)
}
