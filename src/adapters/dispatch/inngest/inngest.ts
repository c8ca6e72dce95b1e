/**
 * The public entry `trihand/inngest`: Inngest as the dispatcher of a system.
 *
 * Owns the check of its options. The caller passes in the client and `serve`, so that this package does not depend on the SDK.
 *
 * inngest-endpoint-1  Accepts GET, POST and PUT only; other methods get 405. An unsigned, wrongly signed or expired request gets 401.
 * inngest-signature-1  A request without a valid signature, or with one older than five minutes, is not authenticated.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { TrihandError } from '#model/kernel/errors.ts'
import { canonical, toJson } from '#model/kernel/json.ts'
import type { DispatcherEndpoint, DispatcherFactory } from '#ports/dispatcher.ts'
import { InngestDispatcher } from './dispatcher.ts'
import type { InngestClient, InngestServe } from './sdk.ts'

/*
 * Verifies who calls: Inngest signs every request with a key that both sides know.
 * Owns the check, so that it also applies where the SDK skips it (development mode, the sync call). The signature covers the canonical
 * form of the body, not the bytes that were sent.
 */

const SIGNATURE_HEADER = 'x-inngest-signature'

const VALID_MS = 300_000

/** Keys have a prefix that names their environment; it is not part of the secret. */
const secretOf = (key: string): string => key.replace(/^signkey-\w+-/, '')

const canonicalText = (body: string): string | null => {
  if (body === '') return ''
  try {
    return canonical(toJson(JSON.parse(body)))
  } catch {
    return null
  }
}

const isSignedWith = (key: string, text: string, seconds: string, given: Buffer): boolean => {
  const expected = createHmac('sha256', secretOf(key)).update(text).update(seconds).digest()
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const isSigned = (header: string | null, body: string, keys: readonly string[], now: number): boolean => {
  const parts = new URLSearchParams(header ?? '')
  const [seconds, signature] = [parts.get('t') ?? '', parts.get('s') ?? '']
  if (!/^\d{1,12}$/.test(seconds) || !/^[0-9a-f]{64}$/.test(signature)) return false
  if (Math.abs(now - Number(seconds) * 1_000) > VALID_MS) return false
  const text = canonicalText(body)
  const given = Buffer.from(signature, 'hex')
  return text !== null && keys.some((key) => isSignedWith(key, text, seconds, given))
}

/*
 * The endpoint that Inngest calls: checks the method and the signature, then passes the request to the SDK.
 * Owns access only. The protocol inside is the SDK's.
 */

interface EndpointOptions {
  readonly path: string
  readonly keys: readonly string[]
  readonly now: () => number
  /** False: this process takes no wakes; Inngest should try another one. */
  readonly isOpen: () => boolean
  readonly handle: (request: Request) => Promise<Response>
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT'])

const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify({ message }), { status, headers: { 'content-type': 'application/json', ...headers } })

const inngestEndpoint = ({ path, keys, now, isOpen, handle }: EndpointOptions): DispatcherEndpoint => ({
  path,
  async answer(request) {
    if (!METHODS.has(request.method)) return refusal(405, 'Method not allowed', { allow: [...METHODS].join(', ') })
    const body = request.method === 'GET' ? '' : await request.clone().text()
    if (!isSigned(request.headers.get(SIGNATURE_HEADER), body, keys, now())) return refusal(401, 'Unauthorized')
    if (request.method === 'POST' && !isOpen()) return refusal(503, 'Not taking wakes', { 'retry-after': '1' })
    return handle(request)
  },
})

export interface InngestOptions<Client extends InngestClient> {
  /** `new Inngest({ id: 'shop', … })` of inngest 4 or later. */
  readonly client: Client
  /** `serve` of `inngest/edge`. */
  readonly serve: InngestServe<Client>
  /** The key that Inngest signs its calls with. Calls without a valid signature are refused, in development too. */
  readonly signingKey: string
  /** A second key that is accepted, for key rotation. */
  readonly signingKeyFallback?: string
  /** Path of our HTTP server that takes the calls. Default `/api/inngest`. */
  readonly path?: string
  /** Distinguishes systems that share an app. Default `trihand`. */
  readonly name?: string
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/
const PATH = /^(\/[A-Za-z0-9._-]+)+$/

const requireThat = (holds: boolean, detail: string): void => {
  if (!holds) throw new TrihandError('CONFIG_INVALID', `inngest: ${detail}`)
}

/** Uses Inngest as dispatcher: `createTrihand({ …, dispatcher: inngest({ client, serve, signingKey }) })`. */
export const inngest = <Client extends InngestClient>(options: InngestOptions<Client>): DispatcherFactory => {
  const { client, serve, signingKey, signingKeyFallback, path = '/api/inngest', name = 'trihand' } = options
  requireThat(signingKey !== '', 'signingKey is empty; unsigned calls are never accepted')
  requireThat(NAME.test(name), `name is ${name}; expected lower-case letters, digits and -`)
  requireThat(PATH.test(path), `path is ${path}; expected a path like /api/inngest`)
  const keys = [signingKey, ...(signingKeyFallback === undefined ? [] : [signingKeyFallback])]
  return async (clock) => {
    const dispatcher = new InngestDispatcher({ client, clock, name })
    const handle = serve({ client, functions: [dispatcher.fn] })
    // Another machine signs with wall-clock time, so signatures are checked against the wall clock.
    const endpoint = inngestEndpoint({ path, keys, now: () => Date.now(), isOpen: () => dispatcher.isStarted, handle })
    return { dispatcher, endpoint, check: async () => dispatcher.trouble }
  }
}
