/**
 * Settings by which a server identifies its callers: loopback alone, or credentials.
 *
 * Owns the choice and what follows from it: the host names it answers to, its own origin, how cookies are signed. Never reads a request.
 */
import type { Context } from 'hono'
import type { Asking } from './identity.ts'

export interface AuthSettings {
  /** Returns the caller as the embedding program identified it; null: it names no caller. Absent: only credentials identify a caller. */
  readonly identify?: (context: Context) => Asking | Response | null | Promise<Asking | Response | null>
  /** Accepts any Host header: the host's owner checks names. A page that reaches the server by another name has none of its cookies. */
  readonly takesAnyHost?: boolean
  /** False: every caller that can reach this server is on this machine and may do everything. */
  readonly isRequired: boolean
  /** Host names that it answers to in addition to loopback, without a port. */
  readonly hosts: readonly string[]
  /**
   * True if it listens on every address of its machine: then bare IP addresses are accepted as host names, too. DNS rebinding cannot
   * produce one.
   */
  readonly takesAddresses: boolean
  /** The origin that people use, if it differs from the listening address: `https://trihand.example`. */
  readonly origin: string | null
  readonly signingKey: string
  /** A bearer token that may read the metrics and nothing else; null: there is none. */
  readonly metricsToken: string | null
  /** True if a proxy on this machine sets x-forwarded-for. If false the header is ignored, because any program on this machine could set it. */
  readonly trustsProxy: boolean
}

/** The empty signing key signs nothing: without credentials there are no logins. */
export const LOOPBACK: AuthSettings = {
  isRequired: false,
  hosts: [],
  takesAddresses: false,
  origin: null,
  signingKey: '',
  metricsToken: null,
  trustsProxy: false,
}

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]'])

export const isLoopbackHost = (host: string): boolean => LOOPBACK_HOSTS.has(host.toLowerCase())

export interface Place {
  readonly host: string
  readonly publicUrl: string | null
}

/** Credentials are needed for any host but loopback, and for any public URL. */
export const needsAuth = ({ host, publicUrl }: Place): boolean => publicUrl !== null || !isLoopbackHost(host)

export const authSettings = (place: Place, signingKey: string): AuthSettings => {
  if (!needsAuth(place)) return LOOPBACK
  const { host, publicUrl } = place
  const url = publicUrl === null ? null : new URL(publicUrl)
  const takesAddresses = EVERY_ADDRESS.has(host)
  const names = [...(takesAddresses ? [] : [host]), ...(url === null ? [] : [url.hostname])]
  const origin = url?.origin ?? null
  return { isRequired: true, hosts: names, takesAddresses, origin, signingKey, metricsToken: null, trustsProxy: false }
}
