/**
 * All wiring in one place: takes a system and a configuration, and returns a running Trihand.
 *
 * Owns which implementation is used for each port. Branches on configuration only and contains no rules.
 */
import { SystemClock } from '#adapters/system/clock.ts'
import { Engine } from '#engine/core/engine.ts'
import { inlineExecutor } from '#engine/core/inline.ts'
import type { IncomingEvent, Receipt, Rehearsal, SendOptions, StartOptions } from '#engine/core/intake.ts'
import type { Observer } from '#engine/core/observers.ts'
import { INLINE } from '#engine/core/perform.ts'
import type { Subscriber, Watcher } from '#engine/core/publish.ts'
import type { ChunkListener } from '#engine/core/token-stream.ts'
import type { RunResult } from '#engine/outcome/result.ts'
import type { Reruns } from '#engine/rerun/reruns.ts'
import type { OpenRuns } from '#engine/run/open-run.ts'
import type { Queues } from '#engine/services/queues.ts'
import type { Schedules } from '#engine/services/schedules.ts'
import type { Sessions } from '#engine/services/sessions.ts'
import type { Circuits } from '#engine/step/circuits.ts'
import type { StepAnswer, Tasks } from '#engine/tasks/tasks.ts'
import type { Fleet } from '#engine/worker/fleet.ts'
import { Versions } from '#engine/worker/versions.ts'
import type { AgentHandler } from '#executors/agent/enter.ts'
import { builtInExecutors } from '#executors/built-in.ts'
import { enterBy } from '#executors/hands.ts'
import { enterHuman } from '#executors/human/human.ts'
import type { EnterOptions } from '#executors/workflow/function.ts'
import type { EmbedOptions } from '#http/server/embed.ts'
import type { Service, TenantChangeFeed } from '#http/server/service.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { redactionFor } from '#manifest/define/secrets.ts'
import type { System } from '#manifest/define/system.ts'
import type { Environment } from '#manifest/expressions/reference.ts'
import { durationMs } from '#manifest/time/duration.ts'
import type { Kind } from '#model/access/identity.ts'
import type { PriceOf } from '#model/agent/usage.ts'
import { LOCAL_TENANT, type RunId, type TaskId, type TenantId, type WorkerId, workerId } from '#model/kernel/ids.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import { requireKnownSettings } from '#model/kernel/setting.ts'
import { StepFailure } from '#model/run/step-failure.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'
import type { Chats } from '#modes/chats.ts'
import type { Jobs } from '#modes/jobs.ts'
import type { Plans } from '#planner/plans.ts'
import type { Clock } from '#ports/clock.ts'
import type { DispatcherEndpoint, DispatcherFactory } from '#ports/dispatcher.ts'
import type { Ids } from '#ports/ids.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'
import { ownEnvironment, ownFolder } from '#triggers/host.ts'
import { checkSecrets, type Webhooks } from '#triggers/webhooks.ts'
import type { AgentHand, AgentOptions } from './agents.ts'
import { withBulk } from './bulk.ts'
import { defineWithChats } from './chats.ts'
import { openForCommands } from './commands.ts'
import { type DispatcherChoice, type LedgerChoice, ledgerChoice } from './config.ts'
import { dispatcherOf } from './dispatchers.ts'
import { type HandSettings, handsOf, reach } from './executors.ts'
import { type IsolationSettings, lazyIsolation, workflowHand } from './functions.ts'
import { type EmbeddedHttp, embeddedHttp } from './http.ts'
import { type Doors, joinDoors } from './integrations.ts'
import { idsWith, type KeyOptions, readKeyRing, withKeys } from './keys.ts'
import { type LazyAgents, lazyAgents } from './lazy-agents.ts'
import { executorModels } from './models.ts'
import { type NoticesOptions, withNotices } from './notices.ts'
import { newPlanService, openPlans } from './plans.ts'
import { joinServer, type ServerServices } from './server.ts'
import { openStore, type Store, type StoreOptions, workspacesOf } from './stores.ts'
import { changeFeedOf, openTenants, type TenantDeps, verbsOf } from './tenants.ts'
import { DEFAULT_LEASE, DEFAULT_SLOTS, identityOf, type WorkerIdentity } from './worker.ts'

export type { Store } from './stores.ts'

export interface TrihandOptions extends KeyOptions, Pick<StoreOptions, 'migrate' | 'tuneProcess'> {
  readonly system: SystemSource
  /** Models and tools that this process brings for agents, and the folder of their files. */
  readonly agents?: AgentOptions
  /** The notifications that go out: webhooks, mail, chat. */
  readonly notices?: NoticesOptions
  readonly isolation?: IsolationSettings
  /** The folder of the system: instructions of agents, static files, templates. Default: where the process runs. */
  readonly folder?: string
  /** A file path or `file:` for SQLite, `postgres:` for Postgres, `memory:` to keep nothing. Default `.trihand/trihand.db`. */
  readonly database?: string
  /** The Postgres schema that holds the ledger. */
  readonly schema?: string
  /** What wakes runs. Default: the store's own dispatcher. Others: `trihand/restate`, `trihand/inngest`, or the address of one. */
  readonly dispatcher?: DispatcherFactory | DispatcherChoice
  /** How many runs may be in memory at once. */
  readonly slots?: number
  /** The pool that this process joins, and its own labels. */
  readonly pool?: string
  readonly labels?: Readonly<Record<string, string>>
  /** The name under which people see this worker. */
  readonly name?: string
  /** How long a silent worker keeps the leases of its runs. */
  readonly leaseTtl?: string | number
  /** Limits on calls that wait for the ledger: number (100,000), wait of the oldest (5s). Beyond them `send` and `start` fail with OVERLOADED. */
  readonly intake?: { readonly queue?: number; readonly wait?: string | number }
  /** How long `close` waits for active runs. */
  readonly drain?: string | number
  /** False: accept events and answer queries, but perform no work. */
  readonly work?: boolean
  /** False: watch nothing (files, tables, signals, conditions) and serve no webhook; another process does. Default: as `work`. */
  readonly sources?: boolean
  /** What `fetch` and `node` serve from the application's own server: the base path, and how callers are identified. */
  readonly http?: EmbedOptions
  /** False: do not serve commands beside a SQLite ledger (on a local port, for anyone who may read the ledger's folder). Default: true. */
  readonly commands?: boolean
}

/** A running system. */
export interface Trihand
  extends ServerServices,
    EmbeddedHttp,
    Pick<Service, 'artifact' | 'versions' | 'trail' | 'queued' | 'redact'> {
  /** The tenant whose ledger this is, unless `of` names another. */
  readonly tenant: TenantId
  /**
   * Sends an event. When it resolves, the event is on disk, with the runs it starts. The host's code counts as a program: for an event that
   * only people may send, it names the person whom it has authenticated, `{ by: { id: 'ana', kind: 'user', groups: [] } }`.
   */
  send(event: IncomingEvent, options?: SendOptions): Promise<Receipt>
  sendInOrder: Service['sendInOrder']
  /** Returns what an event would start, without sending it. */
  rehearse(event: IncomingEvent): Promise<Rehearsal>
  /** Starts a function by name; resolves when the run is on disk. */
  start(name: string, input?: unknown, options?: StartOptions): Promise<RunId>
  /** Starts a function and waits for its end, at most `wait` (30s). */
  call(name: string, input?: unknown, options?: StartOptions & { readonly wait?: string | number }): Promise<RunResult>
  result(run: RunId, options?: { readonly wait?: string | number }): Promise<RunResult>
  cancel(run: RunId, options?: { readonly by?: string; readonly reason?: string }): Promise<void>
  retry(run: RunId, options?: { readonly by?: string; readonly kind?: Kind }): ReturnType<Engine['retry']>
  /** No step begins until the run is resumed; steps that are under way may finish, and the run's time limits keep counting. */
  pause(run: RunId, options?: { readonly by?: string; readonly reason?: string | null }): Promise<void>
  resume(run: RunId, options?: { readonly by?: string }): Promise<void>
  /** Answers the task that asks whether this step happened: `tasks.submit` on `tasks.ofStep(run, step)`. */
  resolve(run: RunId, step: string, answer: StepAnswer): Promise<TaskId>
  /** Called after each commit of a run. */
  on(subscriber: Subscriber): () => void
  /** Called with the changes of each append of this process: runs, tasks, schedules, events. */
  watch(watcher: Watcher): () => void
  /** Called with counts of what this process does for all its tenants. */
  observe(observer: Observer): () => void
  /** Every tenant that this process has seen. */
  readonly knownTenants: readonly TenantId[]
  /** Called with each chunk of an answer that the run receives in this process: provisional, and never twice. */
  listen(run: RunId, listener: ChunkListener): () => void
  /** The workers of this ledger: pause, resume or drain one, or stop all. */
  readonly fleet: Fleet
  /** Circuit breakers, and a command that closes one. */
  readonly circuits: Circuits
  /** Why no worker can take a run that has been due for 30 s; null if one can. */
  lacks(run: RunSummary): Promise<string | null>
  /** Settles when this process takes no more work: it was drained or closed. */
  readonly drained: Promise<void>
  /** The health of this process: whether the ledger takes its writes, what it holds, what waits. */
  readonly vitals: Service['vitals']
  readonly worker: { readonly id: WorkerId; readonly name: string; readonly slots: number } & WorkerPlace
  /** New runs follow this definition from now on; active runs go on by their step names. Settles when its sources watch. */
  replace(system: SystemSource): Promise<void>
  readonly sessions: Sessions
  readonly schedules: Schedules
  readonly queues: Queues
  /** What people are asked, and their decisions. */
  readonly tasks: Tasks
  /** Runs a run again as a new one: from a given step on, with the results before it. */
  readonly reruns: Reruns
  /** What unfinished runs have recorded. */
  readonly openRuns: OpenRuns
  /** Conversations, one turn at a time. */
  readonly chats: Chats
  /** Plans that people write down, approve and run. */
  readonly plans: Plans
  /** Commands to many runs at once. */
  readonly jobs: Jobs
  /** The same system for another tenant: neither tenant can see or reach the other. */
  of(tenant: TenantId): Promise<Service>
  /** Pauses and resumes a handler that has flow control: what arrives while it is paused is held or suppressed, as its `whilePaused` says. */
  readonly handlers: {
    pause(name: string, options?: { readonly by?: string }): Promise<void>
    resume(name: string, options?: { readonly by?: string }): Promise<void>
  }
  /** Webhook deliveries from outside, and those that were refused and kept. */
  readonly webhooks: Pick<Webhooks, 'receive' | 'replay' | 'rehearse'>
  readonly reader: Reader
  /** What any process committed; null where this process is the only one on the ledger. */
  readonly changeFeed: TenantChangeFeed | null
  readonly system: System
  /** Which models are simulated by scripts, and why; null: none. */
  readonly simulatedBecause: string | null
  readonly ledger: { readonly kind: LedgerChoice['kind']; readonly durable: boolean; readonly description: string }
  /** What the dispatcher needs served over HTTP, if anything. */
  readonly endpoint: DispatcherEndpoint | null
  /** Lets active runs finish, releases leases, closes the ledger. Safe to call twice. */
  close(): Promise<void>
}

export interface EngineSettings extends Pick<TrihandOptions, 'slots' | 'leaseTtl' | 'drain' | 'intake'>, HandSettings {
  readonly worker?: WorkerIdentity
  readonly price?: PriceOf
  readonly agent?: AgentHand['enter']
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
      executors: new Map([[INLINE, inlineExecutor], ...builtInExecutors(handsOf(system, ids, options))]),
      remote: reach(clock),
      enter: enterBy<AgentHandler & EnterOptions>({
        workflow: workflowHand(system, options.code ?? {}),
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

/** Opens the ledger, migrates it, recovers every run and starts to work; then opens the sources and the webhooks. */
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
  const doors = joinDoors(engine, store, { ids, clock }, environment)
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
  readonly doors: Doors
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
    on: (subscriber) => engine.subscribe(subscriber),
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
