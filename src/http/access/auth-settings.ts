/**
 * How a server knows its callers: by loopback alone, or by credentials.
 *
 * Owns the choice and what follows from it: names it answers to, its own origin, how cookies are signed. Never reads a request.
 */
import type { Context } from 'hono'
import type { Asking } from './identity.ts'

export interface AuthSettings {
  /** Whoever asks, as somebody else has found out; null: it names nobody. Absent: credentials alone say it. */
  readonly identify?: (context: Context) => Asking | Response | null | Promise<Asking | Response | null>
  /** The server's names are its owner's: a page that is led here by another name has none of its cookies. */
  readonly takesAnyHost?: boolean
  /** False: whoever reaches this server sits at this machine, and may do everything. */
  readonly isRequired: boolean
  /** Names that it answers to beside loopback, without a port. */
  readonly hosts: readonly string[]
  /** It listens on every address of its machine: then bare addresses are names of it, too. No page can be rebound to one. */
  readonly takesAddresses: boolean
  /** Where people find it, if not where it listens: `https://trihand.example`. */
  readonly origin: string | null
  readonly signingKey: string
  /** A bearer that may read the metrics and nothing else; null: there is none. */
  readonly metricsToken: string | null
  /** A proxy on this machine says in x-forwarded-for where requests come from. False: a program on this machine could say anything. */
  readonly trustsProxy: boolean
}

/** Null signs nothing: without credentials there are no logins. */
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

/** Anything but loopback, and any public name, asks for credentials. */
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
