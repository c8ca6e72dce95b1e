/**
 * The wiring of what belongs to the server and is shared by its tenants: credentials, requests with a key, saved filters.
 *
 * Owns nothing else. Contains no rules.
 */
import { drawSecret } from '#adapters/system/secret.ts'
import type { Engine } from '#engine/core/engine.ts'
import { Filters } from '#engine/services/filters.ts'
import { Requests } from '#engine/services/idempotency-keys.ts'
import { Tokens } from '#engine/services/tokens.ts'
import { DEFAULT_LEASE } from '#engine/worker/leases.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { SERVER_TENANT } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { Store } from './stores.ts'

/** What belongs to the server, and is shared by its tenants. */
export interface ServerServices {
  /** Credentials of HTTP callers. */
  readonly tokens: Tokens
  /** Requests that carry an idempotency key, and their first answers. */
  readonly requests: Requests
  /** Filters that people save for lists. */
  readonly filters: Filters
}

export const joinServer = (
  engine: Engine,
  { reader, changeFeed }: Pick<Store, 'reader' | 'changeFeed'>,
  { ids, clock }: { readonly ids: Ids; readonly clock: Clock },
  leaseTtl: string | number = DEFAULT_LEASE,
): ServerServices => {
  const note = engine.note.bind(engine)
  const server = engine.of(SERVER_TENANT)
  const deps = { send: server.send.bind(server), note, reader, ids, clock }
  return {
    tokens: new Tokens({ ...deps, secret: drawSecret }),
    requests: new Requests({ ...deps, isShared: changeFeed !== undefined, leaseMs: durationMs(leaseTtl) }),
    filters: new Filters(deps),
  }
}
