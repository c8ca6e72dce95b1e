/**
 * The chat service: send a message, show the conversation, follow a turn, stop it.
 *
 * Owns which session belongs to a chat and which run to a turn. Decides nothing about a message: the turn does (executors/workflow/chat/chat.ts).
 * Turns of a chat run one at a time, in the order of their handler's FlowGate.
 *
 * chats-1  An answered message is never lost and never answered twice: its id is the turn's key.
 * chats-2  An interruption stops only a turn that has saved its own message.
 */
import type { ChunkListener } from '#engine/core/token-stream.ts'
import type { RunSteps } from '#engine/outcome/steps.ts'
import type { Sessions } from '#engine/services/sessions.ts'
import { WaitingRoom } from '#engine/worker/waiting-room.ts'
import type { System } from '#manifest/define/system.ts'
import type { Kind } from '#model/access/identity.ts'
import type { AskedBy } from '#model/access/requester.ts'
import { replySoFar } from '#model/agent/partial-reply.ts'
import {
  type ChatHead,
  type ChatMessage,
  type ChatSpec,
  HEAD_KEY,
  messageKey,
  type TurnInput,
  turnHandler,
} from '#model/chat/chat.ts'
import { type TurnView, turnView } from '#model/chat/turn.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import {
  type Instant,
  isPlainText,
  isRunId,
  namedSessionId,
  type RunId,
  type SessionId,
  type TenantId,
} from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import type { Reader } from '#ports/reader.ts'

export interface ChatDeps {
  readonly tenant: TenantId
  system(): System
  now(): Instant
  digest(text: string): string
  start(name: string, input: TurnInput, options: AskedBy & { readonly session: SessionId }): Promise<RunId>
  cancel(run: RunId, by: string, reason: string): Promise<void>
  retry(run: RunId, by: string, kind: Kind): Promise<void>
  steps(run: RunId): Promise<RunSteps | null>
  listen(run: RunId, listener: ChunkListener): () => void
  readonly sessions: Pick<Sessions, 'memory' | 'ensure'>
  readonly reader: Pick<Reader, 'runs'>
}

export interface IncomingMessage {
  readonly chat: string
  /** The name of the chat in the system; absent: the one it was started with, or the first. */
  readonly name?: string
  readonly id: string
  readonly text: string
}

export interface Conversation extends ChatHead {
  readonly messages: readonly ChatMessage[]
  /** The turn that is running; null: none is. */
  readonly running: RunId | null
}

const MAX_ID = 128
/** As many as the intake serves at once (engine/core/intake.ts): a message whose work has begun never waits there behind others. */
const MOST_AT_ONCE = 256
const NO_LIMIT = { queue: Number.POSITIVE_INFINITY, waitMs: Number.POSITIVE_INFINITY }
const MAX_TEXT = 32_000
const TURNS_READ = 200

const bad = (detail: string): TrihandError => new TrihandError('INPUT_INVALID', detail)

const checkMessage = ({ chat, id, text }: IncomingMessage): void => {
  for (const [what, value] of Object.entries({ 'id of the chat': chat, 'id of the message': id }))
    if (!isPlainText(value, MAX_ID))
      throw bad(`the ${what} must have 1 to ${MAX_ID} characters and no control characters`)
  if (text.trim() === '' || text.length > MAX_TEXT) throw bad(`a message must have 1 to ${MAX_TEXT} characters`)
}

export class Chats {
  private readonly deps: ChatDeps
  /** Each message takes several steps. MOST_AT_ONCE messages are processed at once; the others wait in the order of their arrival. */
  private readonly room: WaitingRoom

  constructor(deps: ChatDeps) {
    this.deps = deps
    this.room = new WaitingRoom({ now: () => deps.now() }, MOST_AT_ONCE, NO_LIMIT)
  }

  /** Returns the turn that answers this message, once the message is on disk. */
  async send(message: IncomingMessage, asked: AskedBy = {}): Promise<RunId> {
    checkMessage(message)
    return this.room.serve(() => this.take(message, asked), true)
  }

  private async take(message: IncomingMessage, asked: AskedBy): Promise<RunId> {
    const { chat, id, text } = message
    const session = this.sessionOf(chat)
    const before = await this.headOf(session)
    const spec = this.specOf(before?.name ?? message.name)
    await this.deps.sessions.ensure(session, 'interactive')
    const run = await this.begin(spec, { chat, message: { id, text }, at: this.deps.now() }, { session, ...asked })
    await this.tryAgain(run, asked)
    if (spec.whileRunning === 'interrupt' && before !== null && before.turn !== run)
      await this.stopTurn(before.turn, 'a new message')
    return run
  }

  private async begin(
    { name }: ChatSpec,
    input: TurnInput,
    options: AskedBy & { readonly session: SessionId },
  ): Promise<RunId> {
    try {
      return await this.deps.start(turnHandler(name), input, options)
    } catch (error) {
      if (!(error instanceof TrihandError) || error.code !== 'RUN_EXISTS') throw error
      throw new TrihandError('TURN_RUNNING', 'the previous message is still being answered', { cause: error })
    }
  }

  /**
   * The key may still belong to a turn that failed a moment ago. Then that turn is retried with the permissions of the sender of this message: a
   * program must not perform what a person has refused.
   */
  private async tryAgain(run: RunId, { by }: AskedBy): Promise<void> {
    const kind = by === undefined || by.kind === 'system' ? 'service' : by.kind
    const turn = await this.deps.steps(run)
    if (turn === null || !isEnded(turn.status) || turn.status === 'success' || turn.status === 'partial') return
    await this.deps.retry(run, by?.id ?? 'chat', kind).catch((error: unknown) => {
      if (!(error instanceof TrihandError) || error.code !== 'RUN_NOT_FAILED') throw error
    })
  }

  async show(chat: string): Promise<Conversation> {
    const memory = await this.deps.sessions.memory(this.sessionOf(chat))
    const head = memory?.get(HEAD_KEY) as unknown as ChatHead | undefined
    if (memory === null || head === undefined) throw unknownChat(chat)
    const messages = Array.from({ length: head.count }, (_, i) => memory.get(messageKey(i))).flatMap((message) =>
      message === undefined ? [] : [message as unknown as ChatMessage],
    )
    const running = (await this.isOver(head.turn)) ? null : head.turn
    return { ...head, messages: await Promise.all(messages.map((message) => this.withRun(message))), running }
  }

  /** Adds the run that executed a plan to the message's plan part. */
  private async withRun(message: ChatMessage): Promise<ChatMessage> {
    if (!message.parts.some(({ type }) => type === 'plan')) return message
    const run = (await this.deps.steps(message.run))?.steps.get('execute')?.child
    if (run == null) return message
    return { ...message, parts: message.parts.map((part) => (part.type === 'plan' ? { ...part, run } : part)) }
  }

  /** Returns the chats of the last turns, newest first. */
  async list(limit: number): Promise<readonly ChatHead[]> {
    const { reader, tenant, system } = this.deps
    const pages = await Promise.all(
      [...system().chats.keys()].map((name) =>
        reader.runs({ tenant, status: null, handler: turnHandler(name), before: null, limit: TURNS_READ }),
      ),
    )
    const sessions = new Set(pages.flat().flatMap(({ session }) => (session === null ? [] : [session])))
    const heads = await Promise.all([...sessions].map((session) => this.headOf(session)))
    return heads
      .flatMap((head) => (head === null ? [] : [head]))
      .sort((a, b) => b.at - a.at)
      .slice(0, limit)
  }

  /** Returns whether there was a turn to stop. */
  async stop(chat: string, by: string): Promise<boolean> {
    const head = await this.headOf(this.sessionOf(chat))
    if (head === null) throw unknownChat(chat)
    return this.stopTurn(head.turn, `stopped by ${by}`)
  }

  /** chats-2: the session names a turn only with its message. */
  private async stopTurn(run: RunId, reason: string): Promise<boolean> {
    if (await this.isOver(run)) return false
    await this.deps.cancel(run, 'chat', reason).catch((error: unknown) => {
      // The run ended meanwhile.
      if (!(error instanceof TrihandError) || error.code !== 'RUN_ENDED') throw error
    })
    return true
  }

  async view(run: RunId): Promise<TurnView> {
    return turnView(run, await this.deps.steps(run))
  }

  /** Calls the listener with the text of the answer so far, while its agent writes it. */
  listen({ decider }: Pick<TurnView, 'decider'>, listener: (reply: string, step: string) => void): () => void {
    if (decider === null || !isRunId(decider)) return () => {}
    const texts = new Map<string, string>()
    return this.deps.listen(decider, ({ type, step, at, text }) => {
      if (type !== 'text') return
      const written = (texts.get(step) ?? '').slice(0, at) + text
      texts.set(step, written)
      listener(replySoFar(written), step)
    })
  }

  private sessionOf(chat: string): SessionId {
    return namedSessionId(this.deps.digest(`chat\n${this.deps.tenant}\n${chat}`))
  }

  private async headOf(session: SessionId): Promise<ChatHead | null> {
    const memory = await this.deps.sessions.memory(session)
    return (memory?.get(HEAD_KEY) ?? null) as unknown as ChatHead | null
  }

  private async isOver(run: RunId): Promise<boolean> {
    const steps = await this.deps.steps(run)
    return steps !== null && isEnded(steps.status)
  }

  private specOf(name: string | undefined): ChatSpec {
    const { chats } = this.deps.system()
    const found = name === undefined ? [...chats.values()][0] : chats.get(name)
    if (found !== undefined) return found
    const there = chats.size === 0 ? 'declare one under chats' : `chats: ${[...chats.keys()].join(', ')}`
    throw new TrihandError('NOT_FOUND', `there is no chat ${name ?? 'in this system'}; ${there}`)
  }
}

const unknownChat = (chat: string): TrihandError => new TrihandError('NOT_FOUND', `there is no chat ${chat}`)
