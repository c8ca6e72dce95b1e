/**
 * The public entry `trihand/inngest`: Inngest as the dispatcher of a system.
 *
 * Owns the check of its options. The user hands in client and `serve`, so that this package does not depend on the SDK.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { DispatcherFactory } from '#ports/dispatcher.ts'
import { InngestDispatcher } from './dispatcher.ts'
import { inngestEndpoint } from './endpoint.ts'
import type { InngestClient, InngestServe } from './sdk.ts'

export interface InngestOptions<Client extends InngestClient> {
  /** `new Inngest({ id: 'shop', … })` of inngest 4 or later. */
  readonly client: Client
  /** `serve` of `inngest/edge`. */
  readonly serve: InngestServe<Client>
  /** The key that Inngest signs its calls with. Calls without it are refused, in development too. */
  readonly signingKey: string
  /** Also taken, while keys are being changed. */
  readonly signingKeyFallback?: string
  /** Where our HTTP server takes the calls. Default `/api/inngest`. */
  readonly path?: string
  /** Tells systems apart that share an app. Default `trihand`. */
  readonly name?: string
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/
const PATH = /^(\/[A-Za-z0-9._-]+)+$/

const requireThat = (holds: boolean, detail: string): void => {
  if (!holds) throw new TrihandError('CONFIG_INVALID', `inngest: ${detail}`)
}

/** Inngest as dispatcher: `createTrihand({ …, dispatcher: inngest({ client, serve, signingKey }) })`. */
export const inngest = <Client extends InngestClient>(options: InngestOptions<Client>): DispatcherFactory => {
  const { client, serve, signingKey, signingKeyFallback, path = '/api/inngest', name = 'trihand' } = options
  requireThat(signingKey !== '', 'signingKey is empty; calls that nobody signed are never taken')
  requireThat(NAME.test(name), `name is ${name}; expected small letters, digits and -`)
  requireThat(PATH.test(path), `path is ${path}; expected a path such as /api/inngest`)
  const keys = [signingKey, ...(signingKeyFallback === undefined ? [] : [signingKeyFallback])]
  return async (clock) => {
    const dispatcher = new InngestDispatcher({ client, clock, name })
    const handle = serve({ client, functions: [dispatcher.fn] })
    // Signatures are made with the wall's time by another machine, so they are judged by it too.
    const endpoint = inngestEndpoint({ path, keys, now: () => Date.now(), isOpen: () => dispatcher.isStarted, handle })
    return { dispatcher, endpoint, check: async () => dispatcher.trouble }
  }
}
