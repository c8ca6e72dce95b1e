/**
 * The only way out over HTTP for tools, functions and webhooks: to allowed hosts only, and never into the internal network.
 *
 * Owns which URLs and redirects are allowed, and the limits of time and size. An address is checked three times: the one in the URL, every
 * one that DNS returns, and the one that was reached (guarded-connect.ts). No proxy variable is read.
 *
 * guarded-fetch-1  No byte is sent to a host that is not allowed, nor to an address that is not public, however it is written.
 * guarded-fetch-2  A redirect is a new URL and checked like the first. Credentials are not sent to another origin.
 * guarded-fetch-3  Time and size are limited, whatever the server does.
 */
import { isIP } from 'node:net'
import type { Agent, Response } from 'undici'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RawAnswer, RawFetch, RawRequest, ToolFetch, ToolResponse } from '#ports/tool.ts'
import { blocked, guardedAgent, type Network, PUBLIC_NETWORK } from './guarded-connect.ts'

export interface FetchPolicy {
  /** `host` is in lower case, without a trailing dot. May throw an error of its own. */
  allowsHost(host: string): boolean
  readonly ports?: readonly number[]
  readonly timeoutMs?: number
  readonly maxBytes?: number
  /** 0: a redirect is a failure. */
  readonly maxRedirects?: number
}

export type GuardedFetch = (url: string, init?: ToolFetch) => Promise<ToolResponse>

const PORTS = [80, 443]
const TIMEOUT_MS = 10_000
const MAX_BYTES = 5 * 1024 * 1024
const MAX_REDIRECTS = 3
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** Headers that belong to the connection; callers must not set them. */
const OWN_HEADERS = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/
/** Headers that are kept on a redirect to another origin: none of them can be a credential. */
const HARMLESS_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])
const REDIRECTS = new Set([301, 302, 303, 307, 308])

interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

type Limits = Required<Omit<FetchPolicy, 'allowsHost'>> & Pick<FetchPolicy, 'allowsHost'>

export const guardedFetch = (policy: FetchPolicy, network: Network = PUBLIC_NETWORK): GuardedFetch => {
  const request = guardedRequest(policy, network)
  return async (url, init) => {
    const answer = await request(url, init)
    const headers = Object.fromEntries(answer.headers)
    return { status: answer.status, headers, text: decode(answer.bytes, headers['content-type']) }
  }
}

export const guardedRequest = (policy: FetchPolicy, network: Network = PUBLIC_NETWORK): RawRequest => {
  const limits: Limits = {
    ports: policy.ports ?? PORTS,
    timeoutMs: policy.timeoutMs ?? TIMEOUT_MS,
    maxBytes: policy.maxBytes ?? MAX_BYTES,
    maxRedirects: policy.maxRedirects ?? MAX_REDIRECTS,
    allowsHost: (host) => policy.allowsHost(host),
  }
  return async (url, init = {}) => {
    const first = firstHop(url, init)
    checkUrl(first.url, limits, network)
    const timeout = AbortSignal.timeout(limits.timeoutMs)
    const signal = init.signal === undefined ? timeout : AbortSignal.any([init.signal, timeout])
    const agent = await guardedAgent(network)
    try {
      return await follow(first, { limits, network, agent, signal, mode: init.redirect ?? 'follow' })
    } catch (error) {
      throw init.signal?.aborted ? init.signal.reason : explain(error, first.url, timeout, limits)
    } finally {
      await agent.destroy()
    }
  }
}

const firstHop = (text: string, { method = 'GET', headers = {}, body }: ToolFetch): Hop => {
  if (!URL.canParse(text)) throw blocked(`${text.slice(0, 200)} is not a URL`)
  const verb = method.toUpperCase()
  if (!METHODS.has(verb)) throw blocked(`the method ${verb} is not one of ${[...METHODS].join(' ')}`)
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const own = named.find(([name]) => OWN_HEADERS.test(name))
  if (own !== undefined) throw blocked(`the header ${own[0]} belongs to the connection`)
  return { url: new URL(text), method: verb, headers: Object.fromEntries(named), body: body ?? null }
}

/** The first check: the URL itself. WHATWG parsing has normalised its spelling: 0x7f.1 is 127.0.0.1 by now. */
const checkUrl = ({ protocol, hostname, port, username, password }: URL, limits: Limits, network: Network): void => {
  if (protocol !== 'http:' && protocol !== 'https:') throw blocked(`${protocol} is neither http: nor https:`)
  if (username !== '' || password !== '') throw blocked('a URL with credentials in it; send them as a header')
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  if (!limits.ports.includes(number)) throw blocked(`port ${number} is not one of ${limits.ports.join(', ')}`)
  const host = hostname.replace(/\.$/, '').toLowerCase()
  const literal = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(literal) !== 0 && !network.mayReach(literal)) throw blocked(`${literal} is not a public address`)
  if (!limits.allowsHost(host)) throw blocked(`the host ${host} is not allowed`)
}

interface Way {
  readonly limits: Limits
  readonly network: Network
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly mode: NonNullable<RawFetch['redirect']>
}

const follow = async (first: Hop, { limits, network, agent, signal, mode }: Way): Promise<RawAnswer> => {
  const { fetch } = await import('undici')
  let hop = first
  for (let redirects = 0; ; redirects++) {
    const { url, method, headers, body } = hop
    const response = await fetch(url, { method, headers, body, redirect: 'manual', dispatcher: agent, signal })
    const location = response.headers.get('location')
    if (!REDIRECTS.has(response.status) || location === null || mode === 'manual')
      return { url: url.href, redirected: redirects > 0, ...(await answerOf(response, limits)) }
    await response.body?.cancel()
    if (mode === 'error') throw blocked('the answer is a redirect, which this call does not follow')
    if (redirects >= limits.maxRedirects) throw blocked(`more than ${limits.maxRedirects} redirects`)
    hop = nextHop(hop, response.status, location)
    checkUrl(hop.url, limits, network)
  }
}

const nextHop = (hop: Hop, status: number, location: string): Hop => {
  if (!URL.canParse(location, hop.url.href)) throw blocked('a redirect to an invalid URL')
  const url = new URL(location, hop.url)
  const kept = Object.entries(hop.headers).filter(
    ([name]) => url.origin === hop.url.origin || HARMLESS_HEADERS.has(name),
  )
  const staysSame = status === 307 || status === 308 || hop.method === 'GET' || hop.method === 'HEAD'
  const headers = Object.fromEntries(staysSame ? kept : kept.filter(([name]) => name !== 'content-type'))
  return staysSame ? { ...hop, url, headers } : { url, method: 'GET', headers, body: null }
}

const answerOf = async (response: Response, { maxBytes }: Limits): Promise<Omit<RawAnswer, 'url' | 'redirected'>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    // The decompressed size counts: a small answer may become a large one (guarded-fetch-3).
    if (size > maxBytes) throw blocked(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const { status, statusText, headers } = response
  return { status, statusText, headers: [...headers], bytes: Buffer.concat(chunks) }
}

const decode = (bytes: Uint8Array, contentType = ''): string => {
  const charset = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    // An unknown charset: the bytes are decoded as UTF-8.
    return new TextDecoder().decode(bytes)
  }
}

/** Our own errors arrive wrapped: undici only says that the fetch failed. */
const ownError = (error: unknown): TrihandError | null => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof TrihandError) return cause
  return null
}

const innermost = (error: unknown): string => {
  let message = String(error)
  for (let cause = error; cause instanceof Error; cause = cause.cause) message = cause.message || message
  return message
}

const explain = (error: unknown, { host }: URL, timeout: AbortSignal, { timeoutMs }: Limits): TrihandError => {
  const own = ownError(error)
  if (own !== null) return own
  const detail = timeout.aborted ? `no answer within ${timeoutMs} ms` : innermost(error)
  return new TrihandError('FETCH_FAILED', `${host}: ${detail}`, { cause: error })
}
