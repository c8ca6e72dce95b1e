/**
 * The change feed of a server as an async iterable that survives broken connections.
 *
 * Owns reading server-sent events, the pauses between tries and the position to resume from. When the server can no longer say what
 * changed, the reader receives one notice that stands for everything.
 *
 * client-1  Each notice is given once: a connection resumes after the last one that was given.
 */
import type { Notice } from '#http/openapi/api.ts'
import { refusedBy, type TrihandError } from './client-error.ts'

/** One change: what kind of thing, and its id. `*`: more may have changed than the server can say; read everything again. */
export type News = (Notice | { readonly topic: '*'; readonly id: null }) & { readonly position: string }

/** What a stream tells: `{ topics: ['runs', 'tasks'] }`. */
export interface StreamOptions {
  /** The kinds of things. Default: all. */
  readonly topics?: readonly Notice['topic'][]
  /** The position of the last notice that was seen. Default: only new ones. */
  readonly after?: string
  /** Ends the stream. Default: it goes on until the loop is left. */
  readonly signal?: AbortSignal
}

interface Message {
  readonly id: string
  readonly event: string
  readonly data: string
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** How many positions are remembered to detect duplicates. */
const REMEMBERED = 1_000

const messageOf = (block: string): Message => {
  const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? ''
  return { id: field('id'), event: field('event'), data: field('data') }
}

async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield messageOf(text.slice(0, end))
        text = text.slice(end + 2)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const newsOf = ({ id, event, data }: Message): News | null => {
  if (event === 'reset') return { topic: '*', id: null, position: id }
  return event === 'notice' ? { ...(JSON.parse(data) as Notice), position: id } : null
}

/** Remembers which notices were given already. */
class Seen {
  private readonly positions = new Set<string>()

  isNew({ position }: News): boolean {
    if (this.positions.has(position)) return false
    this.positions.add(position)
    if (this.positions.size > REMEMBERED) this.positions.delete(this.positions.values().next().value ?? '')
    return true
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** A refusal is not a broken connection: a retry would be refused again. */
const isFinal = ({ status }: TrihandError): boolean => status < 500 && status !== 429

export interface Connection {
  connect(after: string | undefined, options: StreamOptions): Promise<Response>
  /** Default: one second, doubled after each try. */
  readonly firstPauseMs?: number
}

/** Ends when its signal is aborted; throws only if the server refuses. */
export async function* newsFrom(
  { connect, firstPauseMs = FIRST_PAUSE_MS }: Connection,
  options: StreamOptions,
): AsyncGenerator<News> {
  const { signal } = options
  const seen = new Seen()
  let after = options.after
  let pauseMs = firstPauseMs
  const isOver = (): boolean => signal?.aborted === true
  while (!isOver()) {
    try {
      const response = await connect(after, options)
      if (!response.ok || response.body === null) throw await refusedBy(response)
      for await (const message of messagesOf(response.body)) {
        pauseMs = firstPauseMs
        const news = newsOf(message)
        if (news === null || !seen.isNew(news)) continue
        after = news.position
        yield news
      }
    } catch (error) {
      if (isOver()) return
      if (error instanceof Error && error.name === 'TrihandError' && isFinal(error as TrihandError)) throw error
    }
    if (isOver()) return
    await pause(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}
