/**
 * The address of a request: the other end of its socket, or the address that a proxy on this machine gives.
 *
 * Owns when the header is trusted: only if the operator says that a proxy sets it (TRIHAND_TRUST_PROXY), only if it came from loopback, and
 * of a list only the last entry, because a client can forge all others. IPv6 addresses count by their network: a client that has one
 * address has all of them.
 */
import type { Context } from 'hono'
import { type AuthSettings, isLoopbackHost } from '#http/access/auth-settings.ts'
import type { Address } from '#http/access/failed-logins.ts'

/** Passed in by the server with each request. */
export interface Peer {
  readonly address?: string | undefined
}

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i
const NETWORK_GROUPS = 4
/** Limits the length, because a header may contain anything. */
const MAX_LENGTH = 64

const networkOf = (address: string): string => {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.toLowerCase().split('%')[0]?.split('::') ?? []
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''))
  const missing = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0')
  return [...(first ?? []), ...missing, ...(last ?? [])].slice(0, NETWORK_GROUPS).join(':')
}

export const addressOf = (context: Context, { trustsProxy }: Pick<AuthSettings, 'trustsProxy'>): Address => {
  const peer = (context.env as Peer | undefined)?.address?.replace(MAPPED, '')
  if (peer === undefined) return null
  const said = context.req.header('x-forwarded-for')?.split(',').at(-1)?.trim()
  const address = trustsProxy && isLoopbackHost(peer) && said !== undefined && said !== '' ? said : peer
  return networkOf(address.slice(0, MAX_LENGTH))
}
