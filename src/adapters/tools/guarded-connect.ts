/**
 * Connections to checked addresses only: every address that DNS returns is checked, one of them is connected to, and the address that was
 * reached is checked again. A name that resolves differently a moment later makes no difference: it is resolved once.
 *
 * Owns the second and the third check; the first, of the URL itself, is in guarded-fetch.ts.
 */
import { lookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import { TrihandError } from '#model/kernel/errors.ts'
import { isPublicAddress } from './public-address.ts'

/** Name resolution and reachable addresses; replaced in tests. */
export interface Network {
  resolve(host: string): Promise<readonly string[]>
  mayReach(address: string): boolean
}

export const PUBLIC_NETWORK: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  mayReach: isPublicAddress,
}

export const blocked = (detail: string): TrihandError => new TrihandError('URL_BLOCKED', detail)

const resolveChecked = async (network: Network, host: string): Promise<readonly string[]> => {
  const addresses = await network.resolve(host)
  if (addresses.length === 0) throw new TrihandError('FETCH_FAILED', `${host} has no address`)
  const inside = addresses.find((address) => !network.mayReach(address))
  if (inside !== undefined) throw blocked(`${host} is at ${inside}, which is not a public address`)
  return addresses
}

const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

const lookupIn =
  (network: Network): LookupFunction =>
  (host, { all }, answer) => {
    resolveChecked(network, host).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: familyOf(address) }))
        const [first] = found
        if (all || first === undefined) answer(null, found)
        else answer(null, first.address, first.family)
      },
      (error: Error) => answer(error, []),
    )
  }

/** One agent per fetch: no connection outlives the fetch, and none is shared with code that checks less. */
export const guardedAgent = async (network: Network): Promise<Agent> => {
  // Loaded by the first fetch.
  const { Agent, buildConnector } = await import('undici')
  const connect = buildConnector({ lookup: lookupIn(network) })
  return new Agent({
    connect: (options, callback) => {
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        if (network.mayReach(socket.remoteAddress ?? '')) return callback(null, socket)
        socket.destroy()
        callback(
          blocked(`${options.hostname} was reached at ${socket.remoteAddress}, which is not a public address`),
          null,
        )
      })
    },
  })
}
