/**
 * Server-sent events: an open answer that lines are written to until somebody ends it.
 *
 * Owns the life of such an answer: the ping that keeps it open, the reader that does not read and is cut off, the server that stops.
 * What the lines say is the business of each route.
 */
const PING_MS = 15_000
/** How many messages may wait for a reader. */
const MAX_UNREAD = 1_000
const HIGH_WATER = 16

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** What a route may do with the answer it has opened. */
export interface Pen {
  write(text: string): void
  /** Safe to call twice. */
  end(): void
}

/** Begins to write; answers with what must be undone at the end. */
export type Writer = (pen: Pen) => () => void

export const asEvent = (type: string, id: string | number | null, data: unknown): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** `ending`: the server stops, and streams end by themselves. `lastWord`: what a reader is told that is cut off. */
export const sseBody = (
  ending: AbortSignal,
  begin: Writer,
  lastWord: () => string = () => '',
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let stop = (): void => {}
  return new ReadableStream(
    {
      start: (controller) => {
        let isOpen = true
        const end = (): void => {
          if (!isOpen) return
          stop()
          controller.close()
        }
        const write = (text: string): void => {
          if (!isOpen) return
          const isTooMuch = (controller.desiredSize ?? 0) <= -MAX_UNREAD
          controller.enqueue(encoder.encode(isTooMuch ? lastWord() : text))
          if (isTooMuch) end()
        }
        const ping = setInterval(() => write(': ping\n\n'), PING_MS).unref()
        let undo = (): void => {}
        stop = () => {
          isOpen = false
          undo()
          clearInterval(ping)
          ending.removeEventListener('abort', end)
        }
        ending.addEventListener('abort', end)
        const begun = begin({ write, end })
        // What was begun may have ended already.
        if (isOpen) undo = begun
        else begun()
        if (ending.aborted) end()
      },
      cancel: () => stop(),
    },
    { highWaterMark: HIGH_WATER },
  )
}
