/**
 * Server-sent events: an open response to which lines are written until it is ended.
 *
 * Owns the life of the response: the ping that keeps it open, the disconnection of a reader that is too slow, the end of the server. The
 * content is written by each route.
 */
const PING_MS = 15_000
/** How many messages may wait for a reader before it is disconnected. */
const MAX_UNREAD = 1_000
const HIGH_WATER = 16

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** What a route may do with an open response. */
export interface Pen {
  write(text: string): void
  /** Safe to call twice. */
  end(): void
}

/** Begins to write; returns the function that cleans up at the end. */
export type Writer = (pen: Pen) => () => void

export const asEvent = (type: string, id: string | number | null, data: unknown): string =>
  `${id === null ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** `ending`: aborted when the server stops; streams then end by themselves. `lastWord`: the last message to a reader that is disconnected. */
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
        // `begin` may have ended the stream already.
        if (isOpen) undo = begun
        else begun()
        if (ending.aborted) end()
      },
      cancel: () => stop(),
    },
    { highWaterMark: HIGH_WATER },
  )
}
