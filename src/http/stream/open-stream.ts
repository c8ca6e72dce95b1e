/**
 * An open answer as the server keeps it: it ends with the server, with its reader, and with the credential it was opened with.
 *
 * Owns how many are open. What is written is the business of each route; the life of the lines is sse.ts.
 *
 * open-stream-1  Nobody hears anything under a credential that has ended longer than its watch takes to tell (engine/services/token-watch.ts).
 */
import type { Context } from 'hono'
import type { Tokens } from '#engine/services/tokens.ts'
import { askingOf } from '#http/access/identity.ts'
import type { Allowance } from '#http/server/allowance.ts'
import { sseBody, type Writer } from './sse.ts'

/** What all open answers of a server have in common. */
export class Streams {
  /** The server stops, and streams end by themselves. */
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

/** `lastWord`: what a reader is told that is cut off because it does not read. */
export const openStream = (
  streams: Streams,
  context: Context,
  begin: Writer,
  lastWord?: () => string,
): ReadableStream<Uint8Array> => {
  // The header of an answer that will not be read: nothing opens.
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
