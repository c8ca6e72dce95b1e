/**
 * `GET /api/stream`: news for pages as server-sent events.
 *
 * Owns the lines on the wire. A reader that was cut off connects again and is told what it missed, or to reset.
 */
import { TrihandError } from '../../model/errors.ts'
import { type Heard, type LiveFeed, TOPIC_NAMES, type Topic } from '../live.ts'
import type { Query } from '../query.ts'
import { described, text } from '../schema.ts'
import type { Service } from '../service.ts'
import { asEvent, SSE_HEADERS, sseBody } from '../sse.ts'
import type { Handle, Operation } from './route.ts'

const RETRY_MS = 2_000

const asNotice = ({ position, notice }: Heard): string => asEvent('notice', position, notice)

type Wanted = ReadonlySet<Topic>

const wantedOf = (query: Query): Wanted => {
  const text = query.get('topics')
  if (text === undefined) return new Set(TOPIC_NAMES)
  const wanted = text.split(',').map((name) => TOPIC_NAMES.find((topic) => topic === name))
  if (wanted.includes(undefined))
    throw new TrihandError('QUERY_UNKNOWN', `topics=${text}; expected some of ${TOPIC_NAMES.join(', ')}`)
  return new Set(wanted as readonly Topic[])
}

const isWanted =
  (wanted: Wanted) =>
  ({ notice }: Heard): boolean =>
    wanted.has(notice.topic)

/** What a reader gets before anything new happens. */
const opening = (feed: LiveFeed, after: string | undefined, wanted: Wanted): string => {
  const hello = `retry: ${RETRY_MS}\n: hello\n\n`
  if (after === undefined) return hello
  const missed = feed.since(after)
  if (missed === null) return hello + asEvent('reset', feed.position, {})
  return hello + missed.filter(isWanted(wanted)).map(asNotice).join('')
}

export interface StreamOptions {
  readonly feedOf: (service: Service) => LiveFeed
  /** The server stops, and streams end by themselves. */
  readonly ending: AbortSignal
}

export const streamRoutes = ({ feedOf, ending }: StreamOptions): readonly Operation[] => {
  const read: Handle = async (service, context, query) => {
    const after = context.req.header('last-event-id') ?? query.get('after')
    const wanted = wantedOf(query)
    const feed = feedOf(service)
    const stream = sseBody(ending, ({ write }) => {
      write(opening(feed, after, wanted))
      return feed.listen((heard) => isWanted(wanted)(heard) && write(asNotice(heard)))
    })
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
