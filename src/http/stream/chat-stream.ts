/**
 * Streams a turn: reads it after each commit that concerns it, listens to its text meanwhile, and writes what is new.
 *
 * Owns the loop. The chunks are computed by chat-chunks.ts; closing the stream never stops the turn.
 */
import type { Context } from 'hono'
import type { Service } from '#http/server/service.ts'
import type { TurnView } from '#model/chat/turn.ts'
import type { RunId, StreamId } from '#model/kernel/ids.ts'
import { type AskedTask, ChatChunks, type Chunk } from './chat-chunks.ts'
import { openStream, type Streams } from './open-stream.ts'
import { type Pen, SSE_HEADERS } from './sse.ts'

/** Another process may write the turn, and its notification (ports/change-feed.ts) may be lost. */
const LOOK_AGAIN_MS = 1_000

const HEADERS = { ...SSE_HEADERS, 'cache-control': 'no-cache', 'x-vercel-ai-ui-message-stream': 'v1' }

const asLine = (chunk: Chunk): string => `data: ${JSON.stringify(chunk)}\n\n`

class Follower {
  private readonly service: Service
  private readonly run: RunId
  private readonly pen: Pen
  private readonly chunks = new ChatChunks()
  /** The part of the turn that this reader has already. */
  private readonly known: TurnView | null
  private isLooking = false
  private isAsked = false
  private hear: (() => void) | null = null
  private readonly streams = new Map<StreamId, () => void>()

  constructor(service: Service, run: RunId, pen: Pen, known: TurnView | null) {
    this.service = service
    this.run = run
    this.pen = pen
    this.known = known
  }

  begin(): () => void {
    if (this.known !== null) this.chunks.skip(this.known)
    const forget = this.service.subscribe('changes', ({ streams }) => {
      if (streams.some((stream) => this.streams.has(stream))) this.look()
    })
    const timer = setInterval(() => this.look(), LOOK_AGAIN_MS).unref()
    this.follow(this.run)
    this.look()
    return () => {
      forget()
      for (const undo of this.streams.values()) undo()
      clearInterval(timer)
      this.hear?.()
    }
  }

  private follow(stream: StreamId): void {
    if (this.streams.has(stream)) return
    this.streams.set(stream, this.service.changeFeed?.follow(stream, () => this.look()) ?? (() => {}))
  }

  private look(): void {
    this.isAsked = true
    if (this.isLooking) return
    this.isLooking = true
    void this.lookWhileAsked().catch(() => this.pen.end())
  }

  private async lookWhileAsked(): Promise<void> {
    while (this.isAsked && !this.chunks.isEnded) {
      this.isAsked = false
      await this.tell()
    }
    this.isLooking = false
  }

  private async tell(): Promise<void> {
    const { chats } = this.service
    const view = await chats.view(this.run)
    for (const stream of [view.decider, view.execution?.run, view.execution?.task]) if (stream) this.follow(stream)
    this.write(this.chunks.next(view, await this.taskOf(view)))
    if (this.chunks.isEnded) {
      this.pen.write('data: [DONE]\n\n')
      return this.pen.end()
    }
    if (this.hear === null && view.decider !== null && view.reply === null)
      this.hear = chats.listen(view, (reply) => this.write(this.chunks.live(view, reply)))
  }

  private async taskOf({ execution }: TurnView): Promise<AskedTask | null> {
    if (execution?.state !== 'waiting' || execution.task === null) return null
    const { state } = await this.service.tasks.show(execution.task)
    return { id: execution.task, hash: (state.kind === 'open' ? state : state.task).hash }
  }

  private write(chunks: readonly Chunk[]): void {
    if (chunks.length > 0) this.pen.write(chunks.map(asLine).join(''))
  }
}

/** `known`: the turn as the reader has seen it already; null: nothing. */
export const followTurn = (
  service: Service,
  run: RunId,
  { streams, context }: { readonly streams: Streams; readonly context: Context },
  known: TurnView | null,
): Response =>
  new Response(
    openStream(streams, context, (pen) => new Follower(service, run, pen, known).begin()),
    { headers: HEADERS },
  )
