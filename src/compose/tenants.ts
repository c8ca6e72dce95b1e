/**
 * One running system for several tenants: each gets the same services on its own engine and reader.
 *
 * Owns what is made once for each tenant, and what a tenant cannot reach: workers, which belong to the server. Contains no rules.
 */
import type { Engine } from '#engine/core/engine.ts'
import { subscriptionsOf } from '#engine/core/subscriptions.ts'
import { tenantReader } from '#engine/services/tenant-reader.ts'
import type { Service, TenantChangeFeed } from '#http/server/service.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import { durationMs } from '#manifest/time/duration.ts'
import type { Kind } from '#model/access/identity.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, type TenantId } from '#model/kernel/ids.ts'
import type { ChangeFeed } from '#ports/change-feed.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { Reader } from '#ports/reader.ts'
import { type Integrations, openIntegrations } from './integrations.ts'

export interface TenantDeps {
  readonly engine: Engine
  readonly reader: Reader
  readonly changeFeed: ChangeFeed | undefined
  readonly world: { readonly ids: Ids; readonly clock: Clock }
  readonly environment: Environment
}

type Wait = { readonly wait?: string | number }
type By = { readonly by?: string }

/** The operations on runs, the same for every tenant. */
export const verbsOf = (engine: Engine, doors: Pick<Integrations, 'webhooks' | 'chats' | 'plans' | 'jobs'>) => ({
  send: engine.send.bind(engine),
  sendInOrder: engine.sendInOrder.bind(engine),
  rehearse: engine.rehearse.bind(engine),
  start: engine.startRun.bind(engine),
  trail: engine.trail.bind(engine),
  redact: engine.redact.bind(engine),
  queued: engine.queued.bind(engine),
  result: (run: Parameters<Engine['look']>[0], { wait = '30s' }: Wait = {}) =>
    engine.result(run, { waitMs: durationMs(wait) }),
  cancel: (
    run: Parameters<Engine['look']>[0],
    { by = 'local', reason = 'cancelled by a person' }: By & { readonly reason?: string } = {},
  ) => engine.cancel(run, by, reason),
  retry: (run: Parameters<Engine['look']>[0], { by = 'local', kind = 'user' }: By & { readonly kind?: Kind } = {}) =>
    engine.retry(run, by, kind),
  pause: (
    run: Parameters<Engine['look']>[0],
    { by = 'local', reason = null }: By & { readonly reason?: string | null } = {},
  ) => engine.pause(run, by, reason),
  resume: (run: Parameters<Engine['look']>[0], { by = 'local' }: By = {}) => engine.resume(run, by),
  resolve: engine.tasks.resolve.bind(engine.tasks),
  ...subscriptionsOf(engine),
  vitals: engine.vitals,
  lacks: engine.fleet.lacks.bind(engine.fleet),
  artifact: engine.artifact.bind(engine),
  circuits: engine.circuits,
  sessions: engine.sessions,
  schedules: engine.schedules,
  queues: engine.queues,
  tasks: engine.tasks,
  reruns: engine.reruns,
  openRuns: engine.openRuns,
  chats: doors.chats,
  plans: doors.plans,
  jobs: doors.jobs,
  webhooks: doors.webhooks,
  handlers: {
    pause: (name: string, { by = 'local' }: By = {}) => engine.pauseHandler(name, by),
    resume: (name: string, { by = 'local' }: By = {}) => engine.resumeHandler(name, by),
  },
})

/** Null: the store has no change feed, because only this process writes it. */
export const changeFeedOf = (changeFeed: ChangeFeed | undefined, tenant: TenantId): TenantChangeFeed | null =>
  changeFeed === undefined
    ? null
    : {
        begin: () => changeFeed.begin(),
        since: (position) => changeFeed.since(tenant, position),
        follow: (stream, listener) => changeFeed.follow(stream, listener),
      }

const serverOnly = (): Promise<never> =>
  Promise.reject(
    new TrihandError(
      'ROLE_MISSING',
      'workers belong to the server; only an operator of the tenant local can control them',
    ),
  )

/** Opened by the first request of a tenant: its gates and schedules are ready before anything is sent. */
export const openTenants = (deps: TenantDeps, own: () => Service): Service['of'] => {
  const known = new Map<TenantId, Promise<Service>>()
  const open = async (tenant: TenantId): Promise<Service> => {
    const engine = deps.engine.of(tenant)
    const reader = tenantReader(deps.reader, tenant)
    await engine.declare()
    const doors = openIntegrations(engine, { reader }, deps.world, deps.environment)
    const shared = own()
    return {
      ...verbsOf(engine, doors),
      tenant,
      of: shared.of,
      tokens: shared.tokens,
      requests: shared.requests,
      fleet: { order: serverOnly, stop: serverOnly, lift: serverOnly, stopped: () => engine.fleet.stopped() },
      versions: shared.versions,
      filters: shared.filters,
      reader,
      changeFeed: changeFeedOf(deps.changeFeed, tenant),
      endpoint: null,
      get system() {
        return engine.definition
      },
      get knownTenants() {
        return [tenant]
      },
      get simulatedBecause() {
        return own().simulatedBecause
      },
      ledger: shared.ledger,
    }
  }
  return (tenant) => {
    if (tenant === LOCAL_TENANT) return Promise.resolve(own())
    const opened = known.get(tenant) ?? open(tenant)
    known.set(tenant, opened)
    // If opening failed, the next request tries again.
    opened.catch(() => known.delete(tenant))
    return opened
  }
}
