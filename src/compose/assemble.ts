/**
 * All wiring in one place: takes a system and a configuration, and returns a running Trihand.
 *
 * Owns which implementation is used for each port. Branches on configuration only and contains no rules.
 */
import { SystemClock } from '#adapters/system/clock.ts'
import { Engine } from '#engine/core/engine.ts'
import { inlineExecutor } from '#engine/core/inline.ts'
import { INLINE } from '#engine/core/perform.ts'
import { DEFAULT_LEASE } from '#engine/worker/leases.ts'
import { Versions } from '#engine/worker/versions.ts'
import type { AgentHandler } from '#executors/agent/enter.ts'
import { builtInExecutors } from '#executors/built-in.ts'
import { enterHuman } from '#executors/human/human.ts'
import { enterBy } from '#executors/modalities.ts'
import type { EnterOptions } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { redactionFor } from '#manifest/define/secrets.ts'
import type { System } from '#manifest/define/system.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import { durationMs } from '#manifest/time/duration.ts'
import type { PriceOf } from '#model/agent/usage.ts'
import { LOCAL_TENANT, workerId } from '#model/kernel/ids.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import { requireKnownSettings } from '#model/kernel/setting.ts'
import { StepFailure } from '#model/run/step-failure.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { Reader } from '#ports/reader.ts'
import { ownEnvironment, ownFolder } from '#triggers/host.ts'
import { checkSecrets } from '#triggers/webhooks.ts'
import type { AgentRuntime } from './agents.ts'
import { withBulk } from './bulk.ts'
import { defineWithChats } from './chats.ts'
import { openForCommands } from './commands.ts'
import { type LedgerChoice, ledgerChoice } from './config.ts'
import { dispatcherOf } from './dispatchers.ts'
import { builtInParts, type ExecutorSettings, reach } from './executors.ts'
import { functionEntrance, lazyIsolation } from './functions.ts'
import { type EmbeddedHttp, embeddedHttp } from './http.ts'
import { type Integrations, openIntegrations } from './integrations.ts'
import { idsWith, readKeyRing, withKeys } from './keys.ts'
import { type LazyAgents, lazyAgents } from './lazy-agents.ts'
import { executorModels } from './models.ts'
import { withNotices } from './notices.ts'
import { newPlanService, openPlans } from './plans.ts'
import { joinServer, type ServerServices } from './server.ts'
import { openStore, type Store, workspacesOf } from './stores.ts'
import { changeFeedOf, openTenants, type TenantDeps, verbsOf } from './tenants.ts'
import type { Trihand, TrihandOptions } from './trihand.ts'
import { DEFAULT_SLOTS, identityOf, type WorkerIdentity } from './worker.ts'

export type { Store } from './stores.ts'

export type { Trihand, TrihandOptions } from './trihand.ts'

export interface EngineSettings
  extends Pick<TrihandOptions, 'slots' | 'leaseTtl' | 'drain' | 'intake'>,
    ExecutorSettings {
  readonly worker?: WorkerIdentity
  readonly price?: PriceOf
  readonly agent?: AgentRuntime['enter']
  readonly redaction?: Redaction
}

/** An engine on an opened store, with the executors of this version. Not started yet. */
export const joinEngine = (store: Store, system: System, ids: Ids, clock: Clock, options: EngineSettings): Engine =>
  new Engine(
    {
      ...store,
      workers: (query) => store.reader.workers(query),
      document: (...asked) => store.reader.document(...asked),
      documents: (query) => store.reader.documents(query),
      suppressed: (...asked) => store.reader.suppressed(...asked),
      children: (...asked) => store.reader.children(...asked),
      ...{ clock, ids, system },
      executors: new Map([[INLINE, inlineExecutor], ...builtInExecutors(builtInParts(system, ids, options))]),
      remote: reach(clock),
      enter: enterBy<AgentHandler & EnterOptions>({
        workflow: functionEntrance(system, options.code ?? {}),
        human: enterHuman,
        ...(options.agent === undefined ? {} : { agent: options.agent }),
      }),
      ...(options.price === undefined ? {} : { price: options.price }),
      ...(options.redaction && { redaction: options.redaction }),
      errors: (step, failure) => new StepFailure(step, failure),
    },
    {
      tenant: LOCAL_TENANT,
      commit: store.commit,
      intake: { queue: options.intake?.queue ?? 100_000, waitMs: durationMs(options.intake?.wait ?? '5s') },
      worker: {
        ...(options.worker ?? { id: workerId(ids.uuid()), slots: options.slots ?? DEFAULT_SLOTS }),
        leaseTtlMs: durationMs(options.leaseTtl ?? DEFAULT_LEASE),
        pollMs: store.pollMs,
        // No sweep: no other process writes this ledger, so only this one can act on its runs.
        ...(store.sweepMs === null ? { isAlone: true } : { sweepMs: store.sweepMs }),
        drainMs: durationMs(options.drain ?? '30s'),
        tellsInstants: store.keepsInstants ?? false,
      },
    },
  )

/**
 * Runs a system in this process: opens the ledger, migrates it, recovers every run and starts to work; then opens the sources and the webhooks.
 *
 * ```ts
 * const app = await createTrihand({ system, database: 'support.db', http: { basePath: '/trihand' } })
 * const { runs } = await app.send({ type: 'ticket.opened', data: { id: 17 } })
 * await app.close()
 * ```
 */
export const createTrihand = async (options: TrihandOptions): Promise<Trihand> => {
  const clock = new SystemClock()
  const environment = ownEnvironment()
  requireKnownSettings(environment)
  const ring = readKeyRing(options, environment)
  const ids = idsWith(ring)
  const document: Reader['document'] = (...asked) => store.reader.document(...asked)
  const planService = newPlanService((tenant) => openPlans(engine.of(tenant), store.reader, { ids, clock }))
  const around = { environment, clock, ids, document, planService }
  const define = async (source: SystemSource): Promise<System> =>
    withBulk(
      defineWithChats(await withNotices(source, options.notices ?? {}, around), around),
      () => engine,
      () => store.reader,
    )
  const system = await define(options.system)
  const worker = identityOf(system, ids, options)
  const isWatching = options.sources ?? options.work !== false
  if (isWatching) await checkSecrets(system, environment)
  const choice = ledgerChoice(options.database)
  const { dispatcher } = options
  const chosen = typeof dispatcher === 'object' ? dispatcherOf(dispatcher, options.system.name) : dispatcher
  const opened = await chosen?.(clock)
  const ownStore = await withKeys(await openStore(choice, options, clock), ring, ids)
  const store: Store =
    opened === undefined
      ? ownStore
      : { ...ownStore, dispatcher: opened.dispatcher, keepsInstants: true, checkDispatcher: () => opened.check() }
  const agents = lazyAgents({
    workspaces: workspacesOf(choice),
    ...options.agents,
    ...{ clock, ids, environment, blobs: store.blobs, reader: store.reader, system: () => engine.definition },
    folder: options.folder ?? ownFolder(),
  })
  const isolation = lazyIsolation(options.isolation)
  const hands = executorModels(() => engine.definition, environment, options.agents?.models)
  const engine: Engine = joinEngine(store, system, ids, clock, {
    ...{ ...options, ...hands, worker },
    redaction: redactionFor(environment, () => engine.definition),
    ...{ agent: agents.enter, broker: agents.broker, code: { isolation, environment } },
  })
  const doors = openIntegrations(engine, store, { ids, clock }, environment)
  const note = engine.note.bind(engine)
  const versions = new Versions({ note, reader: store.reader, clock })
  try {
    await agents.ready(system)
    await (options.work === false ? engine.declare() : engine.start())
    if (isWatching) await doors.host.follow(system)
    if (options.work !== false || isWatching) await versions.loaded(system)
  } catch (error) {
    await doors.host.stop()
    await engine.stop()
    isolation.close()
    await agents.close()
    await store.ledger.close()
    throw error
  }
  const replace = async (source: SystemSource): Promise<void> => {
    const next = await define(source)
    if (isWatching) await checkSecrets(next, environment)
    await agents.ready(next)
    const previous = engine.definition
    // The engine first: what a new source sends must find its handlers.
    const follow = async (definition: System): Promise<void> => {
      engine.replace(definition)
      isolation.refresh()
      await engine.declare()
      if (isWatching) await doors.host.follow(definition)
      await versions.loaded(definition)
    }
    try {
      await follow(next)
    } catch (error) {
      await follow(previous)
      throw error
    }
  }
  const server = joinServer(engine, store, { ids, clock }, options.leaseTtl)
  const endpoint = opened?.endpoint ?? null
  const world = { ids, clock }
  const ending = new AbortController()
  const http = embeddedHttp(() => trihand, options.http ?? {}, ending.signal)
  const isServing = choice.kind === 'sqlite' && options.commands !== false
  const endCommands = isServing ? openForCommands(() => trihand, choice.file, ending.signal) : async () => {}
  const endHttp = (): Promise<void> => {
    ending.abort()
    return endCommands()
  }
  const trihand = facade(engine, store, choice, {
    ...{ http, endHttp, endCode: () => isolation.close() },
    ...{ doors, replace, worker, agents, server, versions, endpoint, world, environment },
  })
  return trihand
}

interface Joined extends Pick<Trihand, 'replace' | 'endpoint' | 'versions'> {
  readonly server: ServerServices
  readonly doors: Integrations
  readonly agents: Pick<LazyAgents, 'close' | 'simulated'>
  readonly worker: WorkerIdentity
  readonly world: TenantDeps['world']
  readonly environment: Environment
  readonly http: EmbeddedHttp
  endHttp(): Promise<void>
  endCode(): void
}

const facade = (
  engine: Engine,
  store: Store,
  choice: LedgerChoice,
  { doors, replace, worker, agents, server, versions, endpoint, world, environment, http, ...ends }: Joined,
): Trihand => {
  const { place, ...identity } = worker
  let closing: Promise<void> | null = null
  const verbs = verbsOf(engine, doors)
  const trihand: Trihand = {
    ...verbs,
    ...http,
    tenant: LOCAL_TENANT,
    call: async (name, input, { wait = '30s', ...startOptions } = {}) =>
      verbs.result(await engine.startRun(name, input, startOptions), { wait }),
    fleet: engine.fleet,
    versions,
    drained: engine.drained,
    worker: { ...identity, ...place },
    ...server,
    of: openTenants({ engine, reader: store.reader, changeFeed: store.changeFeed, world, environment }, () => trihand),
    reader: store.reader,
    changeFeed: changeFeedOf(store.changeFeed, LOCAL_TENANT),
    replace,
    get system() {
      return engine.definition
    },
    get knownTenants() {
      return engine.knownTenants
    },
    get simulatedBecause() {
      return agents.simulated
    },
    ledger: { kind: choice.kind, durable: store.durable, description: store.description },
    endpoint,
    close: () => {
      closing ??= ends
        .endHttp()
        .then(() => doors.host.stop())
        .then(() => engine.stop())
        .then(() => ends.endCode())
        .then(() => agents.close())
        .then(() => store.ledger.close())
      return closing
    },
  }
  return trihand
}
