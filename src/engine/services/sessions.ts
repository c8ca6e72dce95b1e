/**
 * Operations on a session's head from outside a run: create, read, change, checkpoint, fork.
 *
 * Owns nothing durable; each operation is one append. Other session operations (merge, explore) are not part of this file.
 */
import type { EngineContext } from '#engine/core/engine-context.ts'
import { storeValue } from '#engine/core/payloads.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { SessionId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { Checkpoint, SessionDocument, SessionMode } from '#model/session/session.ts'
import type { StreamWrite } from '#ports/ledger.ts'
import { documentAt, newSession, SessionHead } from './session-head.ts'
import { NOTHING_BESIDE, type SessionCall, sessionWrites } from './session-writes.ts'

/** A session as people see it. */
export interface SessionView {
  readonly mode: SessionMode
  readonly head: Checkpoint | null
  /** Keys that were changed since the head checkpoint. */
  readonly changed: readonly string[]
  /** The reason for its end; null if it is live. */
  readonly endedFor: string | null
  readonly memory: SessionDocument
}

export class Sessions {
  private readonly context: EngineContext

  constructor(context: EngineContext) {
    this.context = context
  }

  async create(options: { readonly mode?: SessionMode } = {}): Promise<SessionId> {
    const { tenant, clock } = this.context
    const { id, write } = newSession(this.context, {
      tenant,
      now: clock.now(),
      mode: options.mode ?? 'interactive',
      base: null,
    })
    await this.write(write)
    return id
  }

  async recall(id: SessionId, key: string): Promise<Json | null> {
    return (await SessionHead.load(this.context, id)).recall(key)
  }

  async show(id: SessionId): Promise<SessionView> {
    const head = await SessionHead.load(this.context, id)
    const { mode, head: checkpoint, changes } = head.last()
    const memory = await head.memory()
    return { mode, head: checkpoint, changed: [...changes.keys()], endedFor: head.endedFor, memory }
  }

  /** Returns the memory as of a checkpoint. */
  documentAt(checkpoint: Checkpoint): Promise<SessionDocument> {
    return documentAt(this.context, checkpoint)
  }

  /** Returns the whole memory; null if the session does not exist. */
  async memory(id: SessionId): Promise<ReadonlyMap<string, Json> | null> {
    const [found] = await this.context.ledger.load([id], { after: Number.MAX_SAFE_INTEGER })
    return found == null ? null : (await SessionHead.load(this.context, id)).recallAll()
  }

  /** Creates a named session if it does not exist. */
  ensure(id: SessionId, mode: SessionMode): Promise<void> {
    return ensureSession(this.context, id, mode)
  }

  async remember(id: SessionId, key: string, value: Json): Promise<void> {
    const set: Record<string, Payload> =
      value === null ? {} : { [key]: (await storeValue(this.context, value)).payload }
    const unset = value === null ? [key] : []
    await this.change(id, { changes: [{ key: null, set, unset }] })
  }

  async checkpoint(id: SessionId): Promise<void> {
    await this.change(id, { isCheckpoint: true })
  }

  /** session-2: a fork costs one fact, however long the session's history is. */
  async fork(id: SessionId): Promise<SessionId> {
    let head = await SessionHead.loadAtCheckpoint(this.context, id)
    if (!head.isAtCheckpoint) {
      await this.checkpoint(id)
      head = await SessionHead.loadAtCheckpoint(this.context, id)
    }
    const { checkpoint } = head
    if (checkpoint === null)
      throw new TrihandError('SESSION_STATE_INVALID', `session ${id} has no checkpoint to fork from`)
    const { tenant, clock } = this.context
    const child = newSession(this.context, {
      tenant,
      now: clock.now(),
      mode: 'interactive',
      base: { session: id, checkpoint },
    })
    await this.write(child.write)
    return child.id
  }

  private change(id: SessionId, wanted: Partial<Pick<SessionCall, 'changes' | 'isCheckpoint'>>): Promise<void> {
    return new Promise((resolve, reject) => {
      let isTold = false
      sessionWrites(this.context).add(id, {
        ...{ head: null, changes: [], isCheckpoint: false, append: NOTHING_BESIDE, isNew: true, ...wanted },
        isGone: () => isTold,
        settle: () => resolve(),
        failed: (error) => {
          isTold = true
          reject(error)
          return 'drop'
        },
      })
    })
  }

  private async write(write: StreamWrite): Promise<void> {
    const { commit, appendId } = this.context
    await commitOnce(commit, {
      appendId: appendId(),
      writes: [write],
      events: [],
      signals: [],
      documents: [],
    })
  }
}

/** Creates a named session if it does not exist. */
export const ensureSession = async (
  context: EngineContext,
  id: SessionId,
  mode: SessionMode = 'scheduled',
): Promise<void> => {
  const [found] = await context.ledger.load([id], { after: Number.MAX_SAFE_INTEGER })
  if (found != null) return
  const { tenant, clock } = context
  const { write } = newSession(context, { id, tenant, now: clock.now(), mode, base: null })
  // A conflict means that another writer was faster: then the session exists.
  await commitOnce(context.commit, {
    appendId: context.appendId(),
    writes: [write],
    events: [],
    signals: [],
    documents: [],
  })
}
