/**
 * A session's head in memory: reads its memory, prepares changes of a step, checkpoints and forks.
 *
 * Owns loading from the last checkpoint, so that the cost does not grow with the session's history.
 * Never writes: it prepares stream writes that its callers commit.
 */
import { advanceSession } from '#engine/core/advance.ts'
import { type ChainHead, EMPTY_CHAIN, headOf, sealFacts } from '#engine/core/chain.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readSessionFact } from '#model/kernel/fact-codec.ts'
import { type Instant, type SessionId, sessionId, type TenantId } from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import {
  documentOf,
  type LiveSession,
  resumeFrom,
  type SessionBase,
  type SessionCommand,
  type SessionDocument,
  type SessionMode,
  type SessionState,
  session as sessionMachine,
} from '#model/session/session.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger, LoadOptions, StreamRecord, StreamWrite } from '#ports/ledger.ts'

interface Deps {
  readonly ledger: Pick<Ledger, 'load'>
  readonly blobs: Blobs
  readonly ids: Ids
  readonly redaction: Redaction
  readonly tenant: TenantId
}

interface Loaded {
  readonly state: SessionState
  readonly head: ChainHead
  readonly tail: number
}

export interface MemoryChange {
  readonly key: string | null
  readonly set: SessionDocument
  readonly unset: readonly string[]
}

/** A checkpoint is taken at least this often, so the tail that holds the last one is short. */
const CHANGES_PER_CHECKPOINT = 20
const TAIL = 64
/** For a fork, or right after a checkpoint: the checkpoint is the last fact. */
const LAST_FACT = 1

export class SessionHead {
  readonly id: SessionId
  private readonly deps: Deps
  private state: SessionState
  private head: ChainHead
  /** How many facts came after the last checkpoint. */
  private tail: number
  private pending: { readonly write: StreamWrite; readonly state: SessionState; readonly head: ChainHead } | null = null

  private constructor(deps: Deps, id: SessionId, { state, head, tail }: Loaded) {
    this.deps = deps
    this.id = id
    this.state = state
    this.head = head
    this.tail = tail
  }

  static async load(deps: Deps, id: SessionId, tails: readonly number[] = [TAIL]): Promise<SessionHead> {
    return new SessionHead(deps, id, await loadTail(deps, id, tails))
  }

  /** The same for a session that is most likely at a checkpoint: reads only the last fact, and more if that is not a checkpoint. */
  static loadAtCheckpoint(deps: Deps, id: SessionId): Promise<SessionHead> {
    return SessionHead.load(deps, id, [LAST_FACT, TAIL])
  }

  /** Copies the state of another head of the same session if that is newer. */
  follow(other: SessionHead): void {
    if (other.head.version <= this.head.version) return
    this.state = other.state
    this.head = other.head
    this.tail = other.tail
    this.pending = null
  }

  /** Called when the write that was prepared last is in the ledger. */
  confirm(write: StreamWrite): void {
    if (this.pending?.write !== write) return
    this.state = this.pending.state
    this.head = this.pending.head
    this.tail = write.facts.at(-1)?.type === 'session.checkpointed' ? 0 : this.tail + write.facts.length
    this.pending = null
  }

  async recall(key: string): Promise<Json | null> {
    const changed = this.live().changes.get(key)
    if (changed === null) return null
    const payload = changed ?? (await this.atHead(key))
    return payload === undefined ? null : fetchValue(this.deps, payload)
  }

  /** Returns the whole memory, including values in blobs. */
  async recallAll(): Promise<ReadonlyMap<string, Json>> {
    const values = await Promise.all(
      Object.entries(await this.memory()).map(
        async ([key, payload]) => [key, await fetchValue(this.deps, payload)] as const,
      ),
    )
    return new Map(values)
  }

  get needsCheckpoint(): boolean {
    return this.state.kind === 'live' && this.tail >= CHANGES_PER_CHECKPOINT
  }

  get checkpoint(): LiveSession['head'] {
    return this.live().head
  }

  get isAtCheckpoint(): boolean {
    const live = this.live()
    return live.head !== null && live.changes.size === 0
  }

  /** Prepares the memory changes of a step, to be written with the step's fact. */
  write(changes: readonly MemoryChange[], now: Instant): StreamWrite {
    return this.prepare(changes.map((change) => ({ type: 'change_session', now, ...change })))
  }

  /** Stores the whole document as a blob, then returns the write that refers to it. */
  async checkpointWrite(now: Instant): Promise<StreamWrite> {
    for (;;) {
      const state = this.live()
      const document = documentOf(state, await this.headDocument())
      const text = canonical(document as unknown as Json)
      const root = this.deps.ids.digest(text)
      await this.deps.blobs.put(root, text)
      // A concurrent step may have changed the memory in the meantime: the checkpoint must not lose its change.
      if (this.state === state)
        return this.prepare([{ type: 'checkpoint_session', now, id: `cp_${this.deps.ids.uuid()}`, root }])
    }
  }

  /** Returns the whole memory, also of an ended session. Values in blobs are not fetched. */
  async memory(): Promise<SessionDocument> {
    const last = this.last()
    return documentOf(last, await documentAt(this.deps, last.head))
  }

  /** The current state, or the state when the session ended. */
  last(): LiveSession {
    return this.state.kind === 'ended' ? this.state.last : this.live()
  }

  get endedFor(): string | null {
    return this.state.kind === 'ended' ? this.state.reason : null
  }

  private live(): LiveSession {
    if (this.state.kind === 'live') return this.state
    throw new TrihandError('SESSION_STATE_INVALID', `session ${this.id} has ended or does not exist`)
  }

  /** Reads own properties only: a key may have the name of an inherited property. */
  private async atHead(key: string): Promise<Payload | undefined> {
    const document = await this.headDocument()
    return Object.hasOwn(document, key) ? document[key] : undefined
  }

  private headDocument(): Promise<SessionDocument> {
    return documentAt(this.deps, this.live().head)
  }

  private prepare(commands: readonly SessionCommand[]): StreamWrite {
    let state = this.state
    const facts = commands.flatMap((command) => {
      const advance = advanceSession(state, command)
      if (advance.refusal !== null) throw new TrihandError(advance.refusal.code, advance.refusal.detail)
      state = advance.state
      return advance.facts
    })
    const { write, head } = sessionWrite(this.deps, this.id, this.head, facts)
    this.pending = { write, state, head }
    return write
  }
}

/** Returns the whole document of a checkpoint, verified; an empty one before the first checkpoint. */
export const documentAt = async (
  { blobs, ids }: Pick<Deps, 'blobs' | 'ids'>,
  checkpoint: LiveSession['head'],
): Promise<SessionDocument> => {
  if (checkpoint === null) return {}
  const { id, root } = checkpoint
  const text = await blobs.get(root)
  if (text === null || ids.digest(text) !== root)
    throw new TrihandError('CHECKPOINT_CORRUPT', `checkpoint ${root} (${id}) cannot be verified`)
  return JSON.parse(text) as SessionDocument
}

const sessionWrite = (
  deps: Pick<Deps, 'ids' | 'redaction'>,
  id: SessionId,
  head: ChainHead,
  facts: Parameters<typeof sealFacts>[3],
): { write: StreamWrite; head: ChainHead } => {
  const sealed = sealFacts(deps, id, head, facts)
  const write: StreamWrite = {
    stream: id,
    create: null,
    expectedVersion: head.version,
    epoch: null,
    facts: sealed.facts,
    headHash: sealed.head.headHash,
    status: 'session',
    wakeAt: null,
    release: false,
    seenSignal: 0,
    opensWaits: [],
    closesWaits: [],
  }
  return { write, head: sealed.head }
}

/** Builds the write that creates a session: a new one, or a fork that shares its base's document. */
export const newSession = (
  deps: Pick<Deps, 'ids' | 'redaction'>,
  birth: {
    readonly tenant: TenantId
    readonly now: Instant
    readonly mode: SessionMode
    readonly base: SessionBase | null
    /** Default: a new id. */
    readonly id?: SessionId
  },
): { readonly id: SessionId; readonly write: StreamWrite } => {
  const { tenant, now, mode, base, id = sessionId(deps.ids.uuid()) } = birth
  const { facts } = advanceSession({ kind: 'none' }, { type: 'create_session', now, mode, base })
  const { write } = sessionWrite(deps, id, EMPTY_CHAIN, facts)
  const create = {
    tenant,
    handler: 'session',
    systemHash: '',
    session: base?.session ?? null,
    parent: null,
    event: null,
    lease: null,
    createdAt: now,
  }
  return { id, write: { ...write, create } }
}

/**
 * Reads only the tail that contains the last checkpoint: the cost is the same after 10,000 changes as after 10. If a tail does not reach
 * back to a checkpoint, the next longer one is read.
 */
const loadTail = async (deps: Deps, id: SessionId, tails: readonly number[]): Promise<Loaded> => {
  for (const last of tails) {
    const found = await loadFacts(deps, id, { last })
    const resumed = resumeFrom(found.facts.map(readSessionFact))
    if (resumed !== null) return { state: resumed, head: headOf(found), tail: tailOf(found) }
  }
  const whole = await loadFacts(deps, id, {})
  return { state: fold(sessionMachine, whole.facts.map(readSessionFact)), head: headOf(whole), tail: tailOf(whole) }
}

const tailOf = ({ facts }: StreamRecord): number =>
  facts.length -
  1 -
  Math.max(
    0,
    facts.findLastIndex(({ type }) => type === 'session.checkpointed'),
  )

const loadFacts = async (deps: Deps, id: SessionId, options: LoadOptions): Promise<StreamRecord> => {
  const [found] = await deps.ledger.load([id], options)
  if (found == null || found.tenant !== deps.tenant) throw new TrihandError('NOT_FOUND', `there is no session ${id}`)
  return found
}
