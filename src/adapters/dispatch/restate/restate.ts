/**
 * The public entry `trihand/restate`: Restate as the dispatcher of a system.
 *
 * Owns the check of its options. The SDK is loaded when the system opens; without it the error says how to install it.
 */
import { loadPeer } from '#adapters/peer.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { DispatcherFactory } from '#ports/dispatcher.ts'
import { RestateDispatcher } from './dispatcher.ts'
import { provideWithResolvers } from './with-resolvers.ts'

export interface RestateOptions {
  /** Where wakes are sent, such as `http://127.0.0.1:8080`. */
  readonly ingress: string
  /** Where workers register themselves, such as `http://127.0.0.1:9070`. Absent: somebody registers `url` by hand. */
  readonly admin?: string
  /** Where this process listens for Restate. Default 127.0.0.1. */
  readonly host?: string
  /** Default: any that is free. */
  readonly port?: number
  /** Where Restate reaches this process, if not at host and port: a container's name, or one address for many workers. */
  readonly url?: string
  /** Public keys of the Restate cluster (`publickeyv1_…`); required unless everything is on loopback. */
  readonly identityKeys?: readonly string[]
  /** Sent to ingress and admin as a bearer token. */
  readonly token?: string
  /** Tells the systems apart that share a Restate. Default `trihand`. */
  readonly name?: string
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

const address = (what: string, text: string): string => {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new TrihandError(
      'CONFIG_INVALID',
      `restate: ${what} is ${text}; expected an address such as http://127.0.0.1:8080`,
    )
  return text.replace(/\/+$/, '')
}

/** S22: whoever reaches the door from outside could wake as often as they like. */
const requireIdentity = ({ host = '127.0.0.1', url, identityKeys = [] }: RestateOptions): void => {
  const hosts = [host, ...(url === undefined ? [] : [new URL(url).hostname])]
  const foreign = hosts.find((one) => !LOOPBACK.has(one))
  if (foreign !== undefined && identityKeys.length === 0)
    throw new TrihandError('CONFIG_INVALID', `restate: identityKeys are required to be reached at ${foreign}`)
}

const checked = (options: RestateOptions) => {
  const { host = '127.0.0.1', port = 0, identityKeys = [], token = null, name = 'trihand' } = options
  if (!NAME.test(name))
    throw new TrihandError('CONFIG_INVALID', `restate: name is ${name}; expected small letters, digits and -`)
  const url = options.url === undefined ? null : address('url', options.url)
  requireIdentity(options)
  return {
    ingress: address('ingress', options.ingress),
    admin: options.admin === undefined ? null : address('admin', options.admin),
    names: { object: `${name}-run`, many: `${name}-wakes` },
    ...{ host, port, url, identityKeys, token },
  }
}

/** Restate as dispatcher: `createTrihand({ …, dispatcher: restate({ ingress, admin }) })`. */
export const restate = (options: RestateOptions): DispatcherFactory => {
  const settings = checked(options)
  return async (clock) => {
    provideWithResolvers()
    const sdk = await loadPeer('@restatedev/restate-sdk', () => import('@restatedev/restate-sdk'))
    const dispatcher = new RestateDispatcher({ ...settings, sdk, clock })
    return { dispatcher, endpoint: null, check: () => dispatcher.check() }
  }
}
