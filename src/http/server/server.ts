/**
 * The listening socket of the application: on loopback, unless another address is given.
 *
 * Owns the port: a given port is taken or refused, otherwise the first free one of ten is used. Never replaces the global Request and
 * Response, which the adapter would do by default.
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Peer } from './address.ts'

const LOOPBACK = '127.0.0.1'
/** Wildcard addresses: programs on the same machine connect to loopback instead. */
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
const FIRST_PORT = 4400
const PORTS = 10
/** How long running requests may take once the server stops. */
const GRACE_MS = 2_000

export interface Listening {
  readonly url: string
  readonly port: number
  /** Refuses new requests, lets running ones finish, then closes the rest. Safe to call twice. */
  stop(): Promise<void>
}

export interface ListenOptions {
  readonly fetch: (request: Request, peer: Peer) => Response | Promise<Response>
  /** Null: the first free default port. */
  readonly port: number | null
  /** Absent: loopback. */
  readonly host?: string
  /** The first of the default ports. Absent: 4400. */
  readonly first?: number
}

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

const bind = ({ fetch, host = LOOPBACK }: ListenOptions, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createAdaptorServer({
      fetch: (request, { incoming }) => fetch(request, { address: incoming.socket.remoteAddress }),
      overrideGlobalObjects: false,
    }) as Server
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server)
    })
  })

const bindFirstFree = async (options: ListenOptions): Promise<Server> => {
  const { port, host = LOOPBACK, first = FIRST_PORT } = options
  const candidates = port === null ? Array.from({ length: PORTS }, (_, i) => first + i) : [port]
  for (const candidate of candidates) {
    try {
      return await bind(options, candidate)
    } catch (error) {
      if (!isTaken(error))
        throw new TrihandError('CONFIG_INVALID', `cannot listen on ${host}:${candidate}: ${String(error)}`, {
          cause: error,
        })
    }
  }
  const taken = port === null ? `the ports ${first} to ${first + PORTS - 1} are` : `port ${port} is`
  throw new TrihandError('PORT_IN_USE', `${taken} in use by another process`)
}

const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    // `close` ends idle connections by itself; one with a running request gets this long.
    const end = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    server.close(() => {
      clearTimeout(end)
      resolve()
    })
  })

const urlOf = (host: string, port: number): string => {
  const name = EVERYWHERE.has(host) ? LOOPBACK : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

export const listen = async (options: ListenOptions): Promise<Listening> => {
  const server = await bindFirstFree(options)
  const { port } = server.address() as AddressInfo
  let stopped: Promise<void> | null = null
  return {
    url: urlOf(options.host ?? LOOPBACK, port),
    port,
    stop: () => {
      stopped ??= stop(server)
      return stopped
    },
  }
}
