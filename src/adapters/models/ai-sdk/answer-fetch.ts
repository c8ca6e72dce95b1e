/**
 * The fetch for calls to providers: returns an answer of a model's API, or throws an error that names the problem in words.
 *
 * Owns the check of an answer before the SDK reads it, and its size limit. Never follows a redirect: the key would go along.
 */
import { TrihandError } from '#model/kernel/errors.ts'

/** Longer answers could not be stored. */
const MAX_BYTES = 16 * 1024 * 1024
const MAX_QUOTED = 200
/** A stream's events carry more than the text, so the limit is larger. */
const MAX_STREAMED_BYTES = 2 * MAX_BYTES

type Fetch = typeof fetch

const placeOf = (input: Parameters<Fetch>[0]): string => {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
  return `${origin}${pathname}`
}

const bad = (detail: string): TrihandError => new TrihandError('MODEL_BAD_RESPONSE', detail)

const isStreamAsked = (init: RequestInit | undefined): boolean =>
  typeof init?.body === 'string' && init.body.includes('"stream":true')

/** The first characters of a body, for an error message. */
const beginningOf = async (body: ReadableStream<Uint8Array> | null): Promise<string> => {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (text.length < MAX_QUOTED) {
      const { value, done } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } finally {
    reader.cancel().catch(() => {})
  }
  return text.slice(0, MAX_QUOTED).trim()
}

/** Turns an error in the middle of a body into one with a message for people. */
const brokenOff = (error: unknown, place: string, encoding: string | null): unknown => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code.startsWith('Z_') || /^ERR_.*(BROTLI|ZLIB)/.test(code))
    return bad(`${place} marks its answer as compressed with ${encoding}, but it is not`)
  if (error instanceof Error && error.name === 'AbortError') return error
  return new TrihandError('MODEL_UNAVAILABLE', `the connection to ${place} was cut in the middle of the answer`)
}

/** Passes the same bytes through, up to a limit, and rewrites errors for people. */
const watched = (response: Response, place: string, limit: number): Response => {
  const { body, headers, status, statusText } = response
  if (body === null) return response
  const reader = body.getReader()
  let bytes = 0
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const read = await reader.read().catch((error: unknown) => {
        throw brokenOff(error, place, headers.get('content-encoding'))
      })
      if (read.done) return controller.close()
      bytes += read.value.byteLength
      if (bytes > limit) {
        reader.cancel().catch(() => {})
        throw bad(`the answer of ${place} has more than ${limit / 1024 / 1024} MiB and was cut off`)
      }
      controller.enqueue(read.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(stream, { status, statusText, headers })
}

const requireAnswer = async (response: Response, place: string, isStream: boolean): Promise<void> => {
  const { status, headers, body } = response
  if (status >= 300 && status < 400) {
    body?.cancel().catch(() => {})
    const target = headers.get('location') ?? 'nowhere'
    throw new TrihandError(
      'MODEL_NOT_FOUND',
      `${place} answers ${status} and points to ${target}; give the right base_url`,
    )
  }
  if (!response.ok) return
  const type = (headers.get('content-type') ?? '').toLowerCase()
  if (/\bhtml\b/.test(type)) {
    body?.cancel().catch(() => {})
    const why = 'check base_url, and whether a proxy or a login page intercepts the call'
    throw bad(`${place} answered with a web page instead of a model answer; ${why}`)
  }
  if (status === 204 || body === null) throw bad(`${place} answered ${status} without any content`)
  if (isStream && /\bjson\b/.test(type)) {
    const text = await beginningOf(body)
    throw bad(`${place} answered with one JSON document instead of a stream of events: ${text}`)
  }
}

export const answerFetch: Fetch = async (input, init) => {
  const place = placeOf(input)
  const isStream = isStreamAsked(init)
  const response = await globalThis.fetch(input, { ...init, redirect: 'manual' })
  await requireAnswer(response, place, isStream)
  return watched(response, place, isStream ? MAX_STREAMED_BYTES : MAX_BYTES)
}
