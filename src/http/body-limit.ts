/**
 * How large a body may be, said before or counted while it comes.
 *
 * Owns the limit. Never makes another request of the one that came: the socket's own kind is not the platform's.
 */
import type { MiddlewareHandler } from 'hono'
import { TrihandError } from '../model/errors.ts'

const MAX_BYTES = 1024 * 1024

const tooLarge = (): TrihandError => new TrihandError('PAYLOAD_TOO_LARGE', `a body may have ${MAX_BYTES} bytes`)

/** All of it, or a refusal as soon as it is too much. */
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

/** For handlers that read through the context: what is counted is read, and the request has nothing more to give. */
export const limitBody: MiddlewareHandler = async ({ req }, next) => {
  const isCounted = req.header('content-length') === undefined && req.method !== 'GET' && req.method !== 'HEAD'
  const { body } = isCounted ? req.raw : { body: null }
  if (body !== null) {
    const whole = await readAll(body)
    // Kept as a promise, as the framework itself keeps it, whatever its type says.
    req.bodyCache.arrayBuffer = Promise.resolve(whole) as unknown as ArrayBuffer
  }
  await next()
}
