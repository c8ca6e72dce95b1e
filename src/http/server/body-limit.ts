/**
 * The size limit of request bodies, checked by the content-length or while reading; also refuses incomplete and compressed bodies.
 *
 * Owns the limit and the reading of bodies. Never builds a new Request from the incoming one: the socket server's class differs from the
 * platform's.
 */
import type { MiddlewareHandler } from 'hono'
import { TrihandError } from '#model/kernel/errors.ts'

const MAX_BYTES = 1024 * 1024

const tooLarge = (): TrihandError => new TrihandError('PAYLOAD_TOO_LARGE', `a body may have at most ${MAX_BYTES} bytes`)

/** Reads the whole body, or throws as soon as it is too large. */
const readAll = async (body: ReadableStream<Uint8Array>): Promise<ArrayBuffer> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MAX_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole.buffer
}

export const limitLength: MiddlewareHandler = async ({ req }, next) => {
  if (Number(req.header('content-length') ?? 0) > MAX_BYTES) throw tooLarge()
  await next()
}

const AS_IT_IS: readonly (string | undefined)[] = [undefined, '', 'identity']

/** A compressed body would be stored as it came, without a record of how to decompress it. */
const requirePlain = (encoding: string | undefined): void => {
  if (!AS_IT_IS.includes(encoding?.trim().toLowerCase()))
    throw new TrihandError(
      'MEDIA_TYPE_UNSUPPORTED',
      `the body has the content-encoding ${encoding}; send it uncompressed`,
    )
}

/** The sender disconnected in the middle of the body: this is not reported as a bug. */
const whole = async (reading: Promise<ArrayBuffer>): Promise<ArrayBuffer> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof TrihandError) throw error
    throw new TrihandError('BODY_INCOMPLETE', 'the connection ended before the body was complete', { cause: error })
  }
}

/** For handlers that read through the context: the body is read here once, and the request's own stream is then used up. */
export const limitBody: MiddlewareHandler = async ({ req }, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next()
  if (req.header('content-length') !== undefined) await whole(req.arrayBuffer())
  else if (req.raw.body !== null) {
    const read = await whole(readAll(req.raw.body))
    // Stored as a promise, as the framework itself does, although its type says otherwise.
    req.bodyCache.arrayBuffer = Promise.resolve(read) as unknown as ArrayBuffer
  }
  if ((await req.arrayBuffer()).byteLength > 0) requirePlain(req.header('content-encoding'))
  return next()
}
