/**
 * `GET /api/runs/{id}/stream`: one run as it happens. Facts are sent with their number as position. The output of a model in progress is
 * sent without one, so that a reader that resumes receives each fact once and never counts provisional text.
 *
 * Owns the lines on the wire, and the loop that reads facts: after each commit of this process, and periodically for those of others.
 *
 * run-stream-1  A reader that names the last fact it saw receives every later one once and in order.
 */
import type { TokenChunk } from '#engine/core/token-stream.ts'
import type { Fact } from '#http/openapi/api.ts'
import { described, text } from '#http/openapi/schema.ts'
import type { Handle, Operation } from '#http/routes/route.ts'
import { findRun } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { openStream } from '#http/stream/open-stream.ts'
import { asEvent, type Pen, SSE_HEADERS } from '#http/stream/sse.ts'
import { factPage } from '#http/wire/run-detail.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import type { StreamOptions } from './stream.ts'

const AT_ONCE = 200
const RETRY_MS = 2_000
/** Another process may write the run, and its notification (ports/change-feed.ts) may be lost. */
const LOOK_AGAIN_MS = 1_000
const MAX_BODY = 4_096
const HELLO = `retry: ${RETRY_MS}\n: hello\n\n`

const asDelta = ({ run: _, ...piece }: TokenChunk): string => asEvent('delta', null, piece)

/** A large body is left out; a reader that wants it fetches it. */
const asFact = ({ body, ...fact }: Fact): string =>
  asEvent(fact.type, fact.seq, JSON.stringify(body).length > MAX_BODY ? fact : { ...fact, body })

/** Returns the number of the next fact to send. */
const positionOf = (text: string | undefined): number => {
  if (text === undefined) return 0
  if (!/^\d{1,15}$/.test(text)) throw new TrihandError('CURSOR_INVALID', `"${text}" is not the number of a fact`)
  return Number(text) + 1
}

/** Writes new facts, one read at a time; a read that is requested meanwhile follows. */
class FactLoop {
  private readonly service: Service
  private readonly run: RunId
  private readonly pen: Pen
  private next: number
  private isLooking = false
  private isAsked = false

  constructor(service: Service, run: RunId, pen: Pen, next: number) {
    this.service = service
    this.run = run
    this.pen = pen
    this.next = next
  }

  look(): void {
    this.isAsked = true
    if (this.isLooking) return
    this.isLooking = true
    void this.lookWhileAsked().catch(() => this.pen.end())
  }

  private async lookWhileAsked(): Promise<void> {
    while (this.isAsked) {
      this.isAsked = false
      await this.writeFacts()
    }
    this.isLooking = false
  }

  private async writeFacts(): Promise<void> {
    const { service } = this
    // Read before the facts: if the run has ended by now, no more facts follow those read below.
    const summary = await service.reader.run(service.tenant, this.run)
    for (;;) {
      const { items, next_cursor: more } = await factPage(service, this.run, this.next, AT_ONCE)
      for (const fact of items) this.pen.write(asFact(fact))
      this.next += items.length
      if (more === null) break
    }
    if (summary === null || !isEnded(summary.status) || this.next < summary.version) return
    this.pen.write(asEvent('end', null, { status: summary.status }))
    this.pen.end()
  }
}

const follow = (service: Service, run: RunId, next: number, pen: Pen): (() => void) => {
  const loop = new FactLoop(service, run, pen, next)
  pen.write(HELLO)
  const undo = [
    service.subscribe('changes', ({ streams }) => {
      if (streams.includes(run)) loop.look()
    }),
    service.changeFeed?.follow(run, () => loop.look()) ?? (() => {}),
    service.subscribe('tokens', (piece) => pen.write(asDelta(piece)), { run }),
  ]
  const timer = setInterval(() => loop.look(), LOOK_AGAIN_MS).unref()
  loop.look()
  return () => {
    clearInterval(timer)
    for (const one of undo) one()
  }
}

export const runStreamRoutes = ({ streams }: Pick<StreamOptions, 'streams'>): readonly Operation[] => {
  const read: Handle = async (service, context, query) => {
    const { id } = await findRun(service, context.req.param('id') ?? '')
    const next = positionOf(context.req.header('last-event-id') ?? query.get('after'))
    return new Response(
      openStream(streams, context, (pen) => follow(service, id, next, pen)),
      { headers: SSE_HEADERS },
    )
  }
  return [
    {
      id: 'streamRun',
      method: 'get',
      path: '/api/runs/{id}/stream',
      access: 'viewer',
      summary: 'One run as it happens: its facts by type, `delta` for what a model says on its way, `end`',
      query: {
        after: described('the number of the last fact that was seen; the header last-event-id goes first', text),
      },
      answers: { 200: { media: 'text/event-stream', schema: text } },
      problems: ['ID_AMBIGUOUS', 'CURSOR_INVALID'],
      handle: read,
    },
  ]
}
