/**
 * Decides whether notices are still sent to an outside endpoint: until it says that it is gone, or has accepted nothing for five days.
 *
 * Owns how one attempt changes the health. Pure: the instant and the result of the attempt are arguments; notices.ts stores the health.
 *
 * endpoint-1  An endpoint that answered 410, or failed at every attempt for five days, is off until a person switches it on or its address
 *             changes.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'

export interface EndpointHealth {
  /** The address to which the notices were sent: for another address the health starts again. */
  readonly address: string
  /** The first failure since its last success; null: the last attempt succeeded. */
  readonly failingSince: Instant | null
  /** Why it is off; null: it is on. */
  readonly off: string | null
}

/** The table with the health of each endpoint, by the name of the function that delivers. */
export const ENDPOINT_TABLE = 'trihand.endpoints'

const HANDLER = 'notify-webhook-'

/** Each delivery is a run of this function. */
export const endpointHandler = (name: string): string => `${HANDLER}${name}`

/** Returns whether a function writes this table: those that deliver to an endpoint do. */
export const keepsHealth = (handler: string, table: string): boolean =>
  table === ENDPOINT_TABLE && handler.startsWith(HANDLER)

const DAY_MS = 86_400_000
const PATIENCE_MS = 5 * DAY_MS

/** Reads the stored health; a record of another address, or an unreadable one, counts as none. */
export const healthOf = (kept: Json | null, address: string): EndpointHealth => {
  const health = storedHealth(kept)
  return health.address === address ? health : { address, failingSince: null, off: null }
}

/** Reads the health as it was last written, whatever the address is now. */
export const storedHealth = (kept: Json | null): EndpointHealth => {
  const { address = '', failingSince = null, off = null } = isJsonRecord(kept) ? kept : {}
  return {
    address: typeof address === 'string' ? address : '',
    failingSince: typeof failingSince === 'number' ? failingSince : null,
    off: typeof off === 'string' ? off : null,
  }
}

/** endpoint-1. Returns the same object if nothing has changed. */
export const healthAfter = (
  health: EndpointHealth,
  { kind, detail }: { readonly kind: 'delivered' | 'failed' | 'unwanted'; readonly detail: string },
  now: Instant,
): EndpointHealth => {
  if (kind === 'unwanted') return { ...health, off: `it answered ${detail}: the endpoint no longer exists` }
  if (kind === 'delivered') return health.failingSince === null ? health : { ...health, failingSince: null }
  const failingSince = health.failingSince ?? now
  if (now - failingSince >= PATIENCE_MS)
    return { ...health, failingSince, off: `it has failed for five days, the last time with: ${detail}` }
  return health.failingSince === null ? { ...health, failingSince } : health
}
