/**
 * `GET /api/stream`: the change feed for pages, as server-sent events.
 *
 * Owns the lines on the wire. A reader that was disconnected connects again and receives what it missed, or a reset.
 */
import { described, text } from '#http/openapi/schema.ts'
import type { Handle, Operation } from '#http/routes/route.ts'
import type { Query } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import { type Feed, type FeedReader, type PlacedNotice, TOPIC_NAMES, type Topic } from '#http/stream/live.ts'
import { openStream, type Streams } from '#http/stream/open-stream.ts'
import { asEvent, type Pen, SSE_HEADERS } from '#http/stream/sse.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const RETRY_MS = 2_000
const HELLO = `retry: ${RETRY_MS}\n: hello\n\n`

/** A position without a message: a reader that is disconnected before the first message reconnects with it. */
const asPosition = (position: string): string => `id: ${position}\n\n`

const asNotice = ({ position, notice }: PlacedNotice): string => asEvent('notice', position, notice)

type Wanted = ReadonlySet<Topic>

const wantedOf = (query: Query): Wanted => {
  const text = query.get('topics')
  if (text === undefined) return new Set(TOPIC_NAMES)
  const wanted = text.split(',').map((name) => TOPIC_NAMES.find((topic) => topic === name))
  if (wanted.includes(undefined))
    throw new TrihandError('QUERY_UNKNOWN', `topics=${text}; expected one or more of ${TOPIC_NAMES.join(', ')}`)
  return new Set(wanted as readonly Topic[])
}

const asReset = (position: string): string => asEvent('reset', position, {})

const readerOn = ({ write }: Pen, wanted: Wanted): FeedReader => ({
  receive: (heard) => {
    if (wanted.has(heard.notice.topic)) write(asNotice(heard))
  },
  reset: (position) => write(asReset(position)),
})

export interface StreamOptions {
  readonly feedOf: (service: Service) => Feed
  readonly streams: Streams
}

export const streamRoutes = ({ feedOf, streams }: StreamOptions): readonly Operation[] => {
  const read: Handle = async (service, context, query) => {
    const wanted = wantedOf(query)
    const feed = feedOf(service)
    // Read before the first byte is sent: what a page fetches once its stream is open is then never older than the stream's beginning.
    const seen = context.req.header('last-event-id') ?? query.get('after')
    const after = seen ?? (await feed.begin())
    const begin = (pen: Pen): (() => void) => {
      pen.write(seen === undefined ? HELLO + asPosition(after) : HELLO)
      return feed.follow(after, readerOn(pen, wanted))
    }
    // A reader that is too slow is disconnected; its last message is a reset, after which it reads everything again.
    const stream = openStream(streams, context, begin, () => asReset(feed.position))
    return new Response(stream, { headers: SSE_HEADERS })
  }
  return [
    {
      id: 'streamNews',
      method: 'get',
      path: '/api/stream',
      access: 'viewer',
      summary: 'News as server-sent events: `notice` with a Notice, `reset` when everything should be asked again',
      query: {
        topics: described(`some of ${TOPIC_NAMES.join(', ')}, with commas between; all if it is absent`, text),
        after: described('the last position that was seen; the header last-event-id goes first', text),
      },
      answers: { 200: { media: 'text/event-stream', schema: text } },
      handle: read,
    },
  ]
}
