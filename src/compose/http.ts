/**
 * The wiring of HTTP in a process that embeds Trihand: pages and API for the application's own server.
 *
 * Owns when the HTTP application is loaded: with the first request. Ends open connections when the system closes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Peer } from '#http/server/address.ts'
import type { Embedded, EmbedOptions } from '#http/server/embed.ts'
import type { Service } from '#http/server/service.ts'
import { ownPid, reportToStderr } from '#triggers/host.ts'

/** Pages and API for the application's own server: `createServer(app.node).listen(3000)`. */
export interface EmbeddedHttp {
  /**
   * Answers a request of the application's own server: API and pages, below `http.basePath`. Requests from other machines need `http.identify`.
   * `peer`: `{ address }` of the caller, where the request does not carry it.
   */
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** The same as a handler of node:http and as middleware of Express: requests that are not below the base path go to `next`. */
  node(incoming: IncomingMessage, outgoing: ServerResponse, next?: () => void): void
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

interface Served extends Embedded {
  readonly listener: Listener
}

const serve = async (service: Service, options: EmbedOptions, ending: AbortSignal): Promise<Served> => {
  const [
    { createApp },
    { embed, basePathOf, embeddedAuth },
    { readWebApp, WEB_APP },
    { VERSION },
    { getRequestListener },
  ] = await Promise.all([
    import('#http/server/app.ts'),
    import('#http/server/embed.ts'),
    import('#http/web-app.ts'),
    import('#cli/version.ts'),
    import('@hono/node-server'),
  ])
  const report = reportToStderr((text) => service.redact(text))
  const app = createApp(service, {
    ...{ version: VERSION, pid: ownPid(), ending, report, webApp: readWebApp(WEB_APP) },
    ...{ auth: embeddedAuth(options), mount: basePathOf(options) },
  })
  const embedded = embed(app, options)
  const listener = getRequestListener((request) => embedded.fetch(request), { overrideGlobalObjects: false })
  return { ...embedded, listener }
}

/** Express removes the path of its router from `url`. */
const whole = (incoming: IncomingMessage & { originalUrl?: string }): IncomingMessage => {
  if (incoming.originalUrl !== undefined) incoming.url = incoming.originalUrl
  return incoming
}

export const embeddedHttp = (service: () => Service, options: EmbedOptions, ending: AbortSignal): EmbeddedHttp => {
  let opened: Promise<Served> | null = null
  const open = (): Promise<Served> => {
    opened ??= serve(service(), options, ending)
    return opened
  }
  const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'
  return {
    fetch: async (request, peer) => (await open()).fetch(request, peer),
    node: (incoming, outgoing, next) => {
      const { url } = incoming
      const answer = async (): Promise<void> => {
        const { takes, listener } = await open()
        if (next === undefined || takes(pathOf(whole(incoming)))) return void listener(incoming, outgoing)
        if (url !== undefined) incoming.url = url
        next()
      }
      answer().catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined))
    },
  }
}
