/**
 * A running system as its program sees it: how it is created, and what it can be asked.
 *
 * Owns only the shapes. assemble.ts creates it.
 */
import type { Engine } from '#engine/core/engine.ts'
import type { IncomingEvent, Receipt, Rehearsal, SendOptions, StartOptions } from '#engine/core/incoming.ts'
import type { Subscriptions } from '#engine/core/subscriptions.ts'
import type { RunResult } from '#engine/outcome/result.ts'
import type { Reruns } from '#engine/rerun/reruns.ts'
import type { OpenRuns } from '#engine/run/open-run.ts'
import type { Queues } from '#engine/services/queues.ts'
import type { Schedules } from '#engine/services/schedules.ts'
import type { Sessions } from '#engine/services/sessions.ts'
import type { Circuits } from '#engine/step/circuits.ts'
import type { StepAnswer, Tasks } from '#engine/tasks/tasks.ts'
import type { Fleet } from '#engine/worker/fleet.ts'
import type { EmbedOptions } from '#http/server/embed.ts'
import type { Service, TenantChangeFeed } from '#http/server/service.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { System } from '#manifest/define/system.ts'
import type { Kind } from '#model/access/identity.ts'
import type { RunId, TaskId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'
import type { Chats } from '#modes/chats.ts'
import type { Jobs } from '#modes/jobs.ts'
import type { Plans } from '#planner/plans.ts'
import type { DispatcherEndpoint, DispatcherFactory } from '#ports/dispatcher.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'
import type { Webhooks } from '#triggers/webhooks.ts'
import type { AgentSettings } from './agents.ts'
import type { DispatcherChoice, LedgerChoice } from './config.ts'
import type { IsolationSettings } from './functions.ts'
import type { EmbeddedHttp } from './http.ts'
import type { KeyOptions } from './keys.ts'
import type { NoticesOptions } from './notices.ts'
import type { ServerServices } from './server.ts'
import type { StoreOptions } from './stores.ts'

/** How a system is run: `{ system, database: 'support.db', http: { basePath: '/trihand' } }`. Durations are `30s`, `2h`, or milliseconds. */
export interface TrihandOptions extends KeyOptions, Pick<StoreOptions, 'migrate' | 'tuneProcess'> {
  /** The system to run, from `defineSystem`. */
  readonly system: SystemSource
  /** Models and tools that this process brings for agents, and the folder of their files. Default: what the environment has keys for. */
  readonly agents?: AgentSettings
  /** The notifications that go out: webhooks, mail, chat. Default: those that the environment configures. */
  readonly notices?: NoticesOptions
  /** The processes for code of isolated modules: how many, how large. Default: see each setting. */
  readonly isolation?: IsolationSettings
  /** The folder of the system: instructions of agents, static files, templates. Default: the process's working directory. */
  readonly folder?: string
  /** A file path or `file:` for SQLite, `postgres:` for Postgres, `memory:` to keep nothing. Default: `.trihand/trihand.db`. */
  readonly database?: string
  /** The Postgres schema that holds the ledger. Default: the first of the connection's search path. */
  readonly schema?: string
  /** What wakes runs. Default: the store's own dispatcher. Others: `trihand/restate`, `trihand/inngest`, or the address of one. */
  readonly dispatcher?: DispatcherFactory | DispatcherChoice
  /** How many runs may be in memory at once. Default: that of the pool, else 1,024. */
  readonly slots?: number
  /** The pool that this process joins, by name. Default: none. */
  readonly pool?: string
  /** Labels of this worker, in addition to those of its pool: `{ region: 'eu' }`. Default: none. */
  readonly labels?: Readonly<Record<string, string>>
  /** The name under which people see this worker. Default: the pool's name, or `worker`, with the end of its id. */
  readonly name?: string
  /** How long a silent worker keeps the leases of its runs, a duration. Default: `15s`. */
  readonly leaseTtl?: string | number
  /**
   * Limits on calls that wait for the ledger: how many may wait (100,000), and how long the oldest may have waited (`5s`). Beyond them `send` and
   * `start` fail with OVERLOADED.
   */
  readonly intake?: { readonly queue?: number; readonly wait?: string | number }
  /** How long `close` waits for active runs, a duration. Default: `30s`. */
  readonly drain?: string | number
  /** False: accept events and answer queries, but perform no work. Default: true. */
  readonly work?: boolean
  /** False: watch nothing (files, tables, signals, conditions) and serve no webhook; another process does. Default: as `work`. */
  readonly sources?: boolean
  /** What `fetch` and `node` serve from the application's own server. Default: the root path, for callers on this machine. */
  readonly http?: EmbedOptions
  /** False: do not serve commands beside a SQLite ledger (on a local port, for anyone who may read the ledger's folder). Default: true. */
  readonly commands?: boolean
}

/** A running system, from `createTrihand`. */
export interface Trihand
  extends ServerServices,
    EmbeddedHttp,
    Subscriptions,
    Pick<Service, 'artifact' | 'versions' | 'trail' | 'queued' | 'redact'> {
  /** The tenant whose ledger this is, unless `of` names another. */
  readonly tenant: TenantId
  /**
   * Sends an event. When it resolves, the event is on disk, with the runs it starts. The host's code counts as a program: for an event that
   * only people may send, it names the person whom it has authenticated, `{ by: { id: 'ana', kind: 'user', groups: [] } }`.
   *
   * ```ts
   * const { runs } = await app.send({ type: 'order.paid', data: { id: 17 }, id: 'order-17' })
   * ```
   */
  send(event: IncomingEvent, options?: SendOptions): Promise<Receipt>
  /** Sends the events of one batch; the ledger numbers them in the order of the list. */
  sendInOrder: Service['sendInOrder']
  /** Returns what an event would start, without sending it. */
  rehearse(event: IncomingEvent): Promise<Rehearsal>
  /** Starts a function, an agent or a human by name; resolves when the run is on disk. Default input: null. */
  start(name: string, input?: unknown, options?: StartOptions): Promise<RunId>
  /**
   * Starts a function and waits for its end, at most `wait`, a duration. Default: `30s`; then it returns the run's current status.
   *
   * ```ts
   * const { status, output } = await app.call('quote', { id: 17 }, { wait: '5s' })
   * ```
   */
  call(name: string, input?: unknown, options?: StartOptions & { readonly wait?: string | number }): Promise<RunResult>
  /** Waits for the end of a run, at most `wait`, a duration. Default: `30s`; then it returns the run's current status. */
  result(run: RunId, options?: { readonly wait?: string | number }): Promise<RunResult>
  /** Cancels a run, and what it has started. Default: by `local`, for the reason "cancelled by a person". */
  cancel(run: RunId, options?: { readonly by?: string; readonly reason?: string }): Promise<void>
  /** Lets a failed run go on from the step that failed. Default: by the user `local`. */
  retry(run: RunId, options?: { readonly by?: string; readonly kind?: Kind }): ReturnType<Engine['retry']>
  /** No step begins until the run is resumed; steps that are under way may finish, and the run's time limits keep counting. */
  pause(run: RunId, options?: { readonly by?: string; readonly reason?: string | null }): Promise<void>
  /** Lets a paused run go on. Default: by `local`. */
  resume(run: RunId, options?: { readonly by?: string }): Promise<void>
  /** Answers the task that asks whether this step happened: `tasks.submit` on `tasks.ofStep(run, step)`. */
  resolve(run: RunId, step: string, answer: StepAnswer): Promise<TaskId>
  /** Every tenant that this process has seen. */
  readonly knownTenants: readonly TenantId[]
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
  /** This process as a worker: its id, name, slots, pool and labels. */
  readonly worker: { readonly id: WorkerId; readonly name: string; readonly slots: number } & WorkerPlace
  /** New runs follow this definition from now on; active runs go on by their step names. Settles when its sources watch. */
  replace(system: SystemSource): Promise<void>
  /** The memory of sessions: create, recall, remember, checkpoint, fork. */
  readonly sessions: Sessions
  /** Schedules: list, pause, resume, run now, backfill. */
  readonly schedules: Schedules
  /** Message queues: put a message, list what waits, revive what was given up. */
  readonly queues: Queues
  /** What people are asked, and their decisions: `tasks.submit(id, ana, { action: 'approve' })`. */
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
  /** Queries for pages and people: runs, facts, events, tasks. May be a moment old. */
  readonly reader: Reader
  /** What any process committed; null where this process is the only one on the ledger. */
  readonly changeFeed: TenantChangeFeed | null
  /** The definition that new runs follow now. */
  readonly system: System
  /** Which models are simulated by scripts, and why; null: none. */
  readonly simulatedBecause: string | null
  /** Which ledger this is, and whether it outlives the process. */
  readonly ledger: { readonly kind: LedgerChoice['kind']; readonly durable: boolean; readonly description: string }
  /** What the dispatcher needs served over HTTP; null: nothing. */
  readonly endpoint: DispatcherEndpoint | null
  /** Lets active runs finish, releases leases, closes the ledger. Safe to call twice. */
  close(): Promise<void>
}
