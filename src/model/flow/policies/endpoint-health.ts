/**
 * Whether an endpoint outside is still told: until it says that it is gone, or has taken nothing for five days.
 *
 * Owns what one try changes. Pure: the moment and what became of the try arrive as arguments; who keeps the health is notices.ts.
 *
 * endpoint-1  An endpoint that answered 410, or failed at every try for five days, is off until a person switches it on or its address
 *             changes.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'

export interface EndpointHealth {
  /** What it was told under: another address begins anew. */
  readonly address: string
  /** The first failure since it took something last; null: it took the last that it was sent. */
  readonly failingSince: Instant | null
  /** Why it is off; null: it is on. */
  readonly off: string | null
}

/** Where the health of each is kept, by the name of the function that delivers. */
export const ENDPOINT_TABLE = 'trihand.endpoints'

const HANDLER = 'notify-webhook-'

/** Each delivery is a run of this function. */
export const endpointHandler = (name: string): string => `${HANDLER}${name}`

/** Whether a function keeps this table: whoever delivers to an endpoint knows how it is. */
export const keepsHealth = (handler: string, table: string): boolean =>
  table === ENDPOINT_TABLE && handler.startsWith(HANDLER)

const DAY_MS = 86_400_000
const PATIENCE_MS = 5 * DAY_MS

/** From what was kept; whatever is not of this address is as good as nothing. */
export const healthOf = (kept: Json | null, address: string): EndpointHealth => {
  const health = storedHealth(kept)
  return health.address === address ? health : { address, failingSince: null, off: null }
}

/** As it was written last, whatever the address is by now. */
export const storedHealth = (kept: Json | null): EndpointHealth => {
  const { address = '', failingSince = null, off = null } = isJsonRecord(kept) ? kept : {}
  return {
    address: typeof address === 'string' ? address : '',
    failingSince: typeof failingSince === 'number' ? failingSince : null,
    off: typeof off === 'string' ? off : null,
  }
}

/** endpoint-1. The same object: nothing has changed. */
export const healthAfter = (
  health: EndpointHealth,
  { kind, detail }: { readonly kind: 'delivered' | 'failed' | 'unwanted'; readonly detail: string },
  now: Instant,
): EndpointHealth => {
  if (kind === 'unwanted') return { ...health, off: `it answered ${detail}: it is gone` }
  if (kind === 'delivered') return health.failingSince === null ? health : { ...health, failingSince: null }
  const failingSince = health.failingSince ?? now
  if (now - failingSince >= PATIENCE_MS)
    return { ...health, failingSince, off: `it has failed for five days, the last time with: ${detail}` }
  return health.failingSince === null ? { ...health, failingSince } : health
}
