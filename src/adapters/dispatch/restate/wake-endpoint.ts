/**
 * The HTTP/2 server through which Restate delivers wakes: one virtual object per run and one service for batches.
 *
 * Owns the socket and how Restate treats a wake: it retries for some seconds, then drops the wake, and keeps no journal of it.
 */
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type * as Sdk from '@restatedev/restate-sdk'
import { TrihandError } from '#model/kernel/errors.ts'
import { type ClaimableId, isClaimable, isStreamId } from '#model/kernel/ids.ts'
import type { Names, WireWake } from './server-api.ts'

export interface RestateEndpointOptions {
  readonly sdk: typeof Sdk
  readonly names: Names
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly identityKeys: readonly string[]
  readonly onWake: (run: ClaimableId, at: number) => void
}

/** Restate gives up a worker that hangs or died soon, so that another gets the wake; after some seconds the sweep has found the run anyway. */
const HINT = {
  journalRetention: 0,
  inactivityTimeout: 2_000,
  abortTimeout: 1_000,
  retryPolicy: {
    initialInterval: 50,
    exponentiationFactor: 2,
    maxInterval: 1_000,
    maxAttempts: 15,
    onMaxAttempts: 'kill',
  },
} as const

const handlerOf = ({ sdk, names, identityKeys, onWake }: RestateEndpointOptions) => {
  const wake = async ({ key }: Sdk.ObjectSharedContext, at: number): Promise<void> => {
    if (isStreamId(key) && isClaimable(key) && Number.isFinite(at)) onWake(key, at)
  }
  // Shared, not exclusive: a wake that is stuck on a dead worker must not block the next wake of its run.
  const object = sdk.object({ name: names.object, handlers: { wake: sdk.handlers.object.shared(HINT, wake) } })
  const send = async (context: Sdk.Context, wakes: readonly WireWake[]): Promise<void> => {
    for (const [run, at, delayMs] of wakes)
      context
        .objectSendClient<typeof object>({ name: names.object }, run)
        .wake(at, sdk.rpc.sendOpts({ delay: delayMs }))
  }
  const many = sdk.service({ name: names.many, handlers: { send: sdk.handlers.handler(HINT, send) } })
  return sdk.createEndpointHandler({
    services: [object, many],
    ...(identityKeys.length === 0 ? {} : { identityKeys: [...identityKeys] }),
    // A wake is a hint; its failure is not worth a line in the host's log.
    logger: () => {},
  })
}

export class RestateEndpoint {
  readonly #options: RestateEndpointOptions
  readonly #sessions = new Set<ServerHttp2Session>()
  #server: Http2Server | null = null

  constructor(options: RestateEndpointOptions) {
    this.#options = options
  }

  get port(): number {
    return (this.#server?.address() as AddressInfo | null)?.port ?? 0
  }

  async open(): Promise<void> {
    if (this.#server !== null) return
    const { host, port } = this.#options
    const server = createServer(handlerOf(this.#options))
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
    })
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(refusal(host, port, error)))
      server.listen(port, host, resolve)
    })
  }

  /** Closes open connections too: a delivery that is cut off is repeated elsewhere. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const session of this.#sessions) session.destroy()
    await closed
  }
}

const refusal = (host: string, port: number, error: Error): TrihandError => {
  const isTaken = 'code' in error && error.code === 'EADDRINUSE'
  const detail = `cannot listen on ${host}:${port} for Restate: ${error.message}`
  return new TrihandError(isTaken ? 'PORT_IN_USE' : 'CONFIG_INVALID', detail, { cause: error })
}
