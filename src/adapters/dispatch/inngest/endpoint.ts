/**
 * The door through which Inngest calls: three methods, a signature, then the SDK.
 *
 * Owns who gets in. What is said inside is the SDK's protocol.
 *
 * inngest-endpoint-1  GET, POST and PUT only: others are 405. Unsigned, badly signed or long ago signed: 401, whatever is asked.
 */
import type { DispatcherEndpoint } from '#ports/dispatcher.ts'
import { isSigned, SIGNATURE_HEADER } from './signature.ts'

export interface EndpointOptions {
  readonly path: string
  readonly keys: readonly string[]
  readonly now: () => number
  /** False: this process takes no wakes; another one should be asked. */
  readonly isOpen: () => boolean
  readonly handle: (request: Request) => Promise<Response>
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT'])

const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify({ message }), { status, headers: { 'content-type': 'application/json', ...headers } })

export const inngestEndpoint = ({ path, keys, now, isOpen, handle }: EndpointOptions): DispatcherEndpoint => ({
  path,
  async answer(request) {
    if (!METHODS.has(request.method)) return refusal(405, 'Method not allowed', { allow: [...METHODS].join(', ') })
    const body = request.method === 'GET' ? '' : await request.clone().text()
    if (!isSigned(request.headers.get(SIGNATURE_HEADER), body, keys, now())) return refusal(401, 'Unauthorized')
    if (request.method === 'POST' && !isOpen()) return refusal(503, 'Not taking wakes', { 'retry-after': '1' })
    return handle(request)
  },
})
