/**
 * `GET /api/stream`: news for pages as server-sent events.
 *
 * Owns the lines on the wire. A reader that was cut off connects again and is told what it missed, or to reset.
 */
import type { Heard, LiveFeed } from '../live.ts'
import { described, text } from '../schema.ts'
import { asEvent, SSE_HEADERS, sseBody } from '../sse.ts'
import type { Handle, Operation } from './route.ts'

const RETRY_MS = 2_000

const asNotice = ({ position, notice }: Heard): string => asEvent('notice', position, notice)

/** What a reader gets before anything new happens. */
const opening = (feed: LiveFeed, after: string | undefined): string => {
  const hello = `retry: ${RETRY_MS}\n: hello\n\n`
  if (after === undefined) return hello
  const missed = feed.since(after)
  return missed === null ? hello + asEvent('reset', feed.position, {}) : hello + missed.map(asNotice).join('')
}

const bodyOf = (feed: LiveFeed, after: string | undefined, ending: AbortSignal): ReadableStream<Uint8Array> =>
  sseBody(ending, ({ write }) => {
    write(opening(feed, after))
    return feed.listen((heard) => write(asNotice(heard)))
  })

export interface StreamOptions {
  readonly feed: LiveFeed
  /** The server stops, and streams end by themselves. */
  readonly ending: AbortSignal
}

export const streamRoutes = ({ feed, ending }: StreamOptions): readonly Operation[] => {
  const read: Handle = async (_, context, query) => {
    const after = context.req.header('last-event-id') ?? query.get('after')
    return new Response(bodyOf(feed, after, ending), { headers: SSE_HEADERS })
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
