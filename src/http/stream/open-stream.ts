/**
 * An open response stream: it ends with the server, with its reader, and with the credential it was opened with.
 *
 * Owns the count of open streams. The content is written by each route; the life of the response is sse.ts.
 *
 * open-stream-1  A stream ends at most one poll of the token watch (engine/services/token-watch.ts) after its credential has ended.
 */
import type { Context } from 'hono'
import type { Tokens } from '#engine/services/tokens.ts'
import { askingOf } from '#http/access/identity.ts'
import type { Allowance } from '#http/server/allowance.ts'
import { sseBody, type Writer } from './sse.ts'

/** State that all open streams of a server share. */
export class Streams {
  /** Aborted when the server stops: streams end by themselves. */
  readonly ending: AbortSignal
  readonly tokens: Pick<Tokens, 'watch'>
  readonly allowance: Pick<Allowance, 'openStream'>
  count = 0

  constructor(ending: AbortSignal, tokens: Pick<Tokens, 'watch'>, allowance: Pick<Allowance, 'openStream'>) {
    this.ending = ending
    this.tokens = tokens
    this.allowance = allowance
  }
}

/** `lastWord`: the last message to a reader that is disconnected because it is too slow. */
export const openStream = (
  streams: Streams,
  context: Context,
  begin: Writer,
  lastWord?: () => string,
): ReadableStream<Uint8Array> => {
  // The body of a HEAD response is never read, so nothing is opened.
  if (context.req.method === 'HEAD') return new ReadableStream({ start: (controller) => controller.close() })
  const { ending, tokens, allowance } = streams
  const credential = askingOf(context)?.credential ?? null
  const leave = credential === null ? () => {} : allowance.openStream(credential.token)
  const write: Writer = (pen) => {
    streams.count++
    const watched = credential === null ? [] : [credential.token, credential.login].filter((id) => id !== null)
    const forget = watched.map((id) => tokens.watch(id, credential?.until ?? 0, () => pen.end()))
    const undo = begin(pen)
    return () => {
      streams.count--
      leave()
      for (const stop of forget) stop()
      undo()
    }
  }
  return sseBody(ending, write, lastWord)
}
