/**
 * `GET /api/stream`: news for pages as server-sent events.
 *
 * Owns the lines on the wire. A reader that does not read is cut off: it connects again and is told to reset.
 */
import type { Heard, LiveFeed } from '../live.ts'
import { described, text } from '../schema.ts'
import type { Handle, Operation } from './route.ts'

const PING_MS = 15_000
const RETRY_MS = 2_000
/** How many notices may wait for a reader. */
const MAX_UNREAD = 1_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

const asEvent = (type: string, position: string, data: unknown): string =>
  `id: ${position}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`

const asNotice = ({ position, notice }: Heard): string => asEvent('notice', position, notice)

/** What a reader gets before anything new happens. */
const opening = (feed: LiveFeed, after: string | undefined): string => {
  const hello = `retry: ${RETRY_MS}\n: hello\n\n`
  if (after === undefined) return hello
  const missed = feed.since(after)
  return missed === null ? hello + asEvent('reset', feed.position, {}) : hello + missed.map(asNotice).join('')
}

const bodyOf = (feed: LiveFeed, after: string | undefined, ending: AbortSignal): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let stop = (): void => {}
  return new ReadableStream(
    {
      start: (controller) => {
        const write = (text: string): void => {
          if ((controller.desiredSize ?? 0) <= -MAX_UNREAD) return end()
          controller.enqueue(encoder.encode(text))
        }
        const forget = feed.listen((heard) => write(asNotice(heard)))
        const ping = setInterval(() => write(': ping\n\n'), PING_MS).unref()
        const end = (): void => {
          stop()
          controller.close()
        }
        stop = () => {
          forget()
          clearInterval(ping)
          ending.removeEventListener('abort', end)
        }
        ending.addEventListener('abort', end)
        write(opening(feed, after))
      },
      cancel: () => stop(),
    },
    { highWaterMark: 16 },
  )
}

export interface StreamOptions {
  readonly feed: LiveFeed
  /** The server stops, and streams end by themselves. */
  readonly ending: AbortSignal
}

export const streamRoutes = ({ feed, ending }: StreamOptions): readonly Operation[] => {
  const read: Handle = async (_, context, query) => {
    const after = context.req.header('last-event-id') ?? query.get('after')
    return new Response(bodyOf(feed, after, ending), { headers: HEADERS })
  }
  return [
    {
      id: 'streamNews',
      method: 'get',
      path: '/api/stream',
      access: 'viewer',
      summary: 'News as server-sent events: `notice` with a Notice, `reset` when everything should be asked again',
      query: { after: described('the last position that was seen; the header last-event-id goes first', text) },
      answers: { 200: { media: 'text/event-stream', schema: text } },
      handle: read,
    },
  ]
}
