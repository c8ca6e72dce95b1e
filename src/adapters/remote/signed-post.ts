/**
 * Signed messages over HTTP by Standard Webhooks: one signature covers id, time and body.
 *
 * Owns the request: it follows no redirect, limits the size of an answer, and never sends the secret.
 */
import { Webhook } from 'standardwebhooks'
import { TrihandError } from '#model/kernel/errors.ts'

export interface SignedPostOptions {
  readonly url: string
  /** Base64, with or without `whsec_`. */
  readonly secret: string
  readonly now: () => number
  /** Makes the error for a request that never reached the host. */
  readonly unreached: (message: string) => Error
}

const MAX_ANSWER = 16 * 1024 * 1024
/** Error codes from before any byte of the request was taken. */
const UNREACHED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

const signerOf = (secret: string): Webhook => {
  try {
    return new Webhook(secret)
  } catch (cause) {
    throw new TrihandError('CONFIG_INVALID', 'the secret of a remote executor must be base64, with or without whsec_', {
      cause,
    })
  }
}

const causeOf = (error: unknown): unknown => (error as { readonly cause?: { readonly code?: unknown } }).cause?.code

const bodyOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_ANSWER) throw new Error(`the answer has more than ${MAX_ANSWER} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const retryAfter = (response: Response): number | null => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null
}

export const signedPost = ({ url, secret, now, unreached }: SignedPostOptions) => {
  const signer = signerOf(secret)
  return async (message: { readonly id: string; readonly body: string }, signal: AbortSignal) => {
    const at = new Date(now())
    const headers = {
      'content-type': 'application/json',
      'webhook-id': message.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signer.sign(message.id, at, message.body),
    }
    try {
      const response = await fetch(url, { method: 'POST', headers, body: message.body, signal, redirect: 'error' })
      return { status: response.status, body: await bodyOf(response), retryAfterMs: retryAfter(response) }
    } catch (error) {
      if (UNREACHED.has(causeOf(error))) throw unreached(`${new URL(url).host} could not be reached`)
      throw error
    }
  }
}
