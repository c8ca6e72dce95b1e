/**
 * The part of a running system that pages and routes need.
 *
 * Owns the interface to the engine: the program that serves passes in an implementation. Never opens, starts or stops anything.
 */
import type { EventTrail } from '#engine/coordinators/flow-outcomes.ts'
import type { RetryReport } from '#engine/coordinators/gate-config.ts'
import type { IncomingEvent, Receipt, Rehearsal, SendOptions, StartOptions } from '#engine/core/incoming.ts'
import type { Subscriptions } from '#engine/core/subscriptions.ts'
import type { Artifact } from '#engine/outcome/artifacts.ts'
import type { RunResult } from '#engine/outcome/result.ts'
import type { Reruns } from '#engine/rerun/reruns.ts'
import type { OpenRuns } from '#engine/run/open-run.ts'
import type { Filters } from '#engine/services/filters.ts'
import type { Requests } from '#engine/services/idempotency-keys.ts'
import type { Queues } from '#engine/services/queues.ts'
import type { Schedules } from '#engine/services/schedules.ts'
import type { Sessions } from '#engine/services/sessions.ts'
import type { Tokens } from '#engine/services/tokens.ts'
import type { Circuits } from '#engine/step/circuits.ts'
import type { StepAnswer, Tasks } from '#engine/tasks/tasks.ts'
import type { Fleet } from '#engine/worker/fleet.ts'
import type { Versions } from '#engine/worker/versions.ts'
import type { Vitals } from '#engine/worker/vitals.ts'
import type { System } from '#manifest/define/system.ts'
import type { Kind } from '#model/access/identity.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { QueuedRun } from '#model/flow/flow-outcome.ts'
import type { TrihandError } from '#model/kernel/errors.ts'
import type { RunId, StreamId, TaskId, TenantId } from '#model/kernel/ids.ts'
import type { Chats } from '#modes/chats.ts'
import type { Jobs } from '#modes/jobs.ts'
import type { Plans } from '#planner/plans.ts'
import type { ChangePage, ChangePosition } from '#ports/change-feed.ts'
import type { DispatcherEndpoint } from '#ports/dispatcher.ts'
import type { Reader, RunSummary } from '#ports/reader.ts'
import type { Webhooks } from '#triggers/webhooks.ts'

/** A running system of one tenant, as `of(tenant)` returns it. */
export interface Service extends Subscriptions {
  /** The tenant whose events, runs, tasks and sessions these are. */
  readonly tenant: TenantId
  /** Sends an event; resolves when it is on disk, with the runs it starts. */
  send(event: IncomingEvent, options?: SendOptions): Promise<Receipt>
  /** Every tenant that this process has served so far. */
  readonly knownTenants: readonly TenantId[]
  /** Starts a handler by name; resolves when the run is on disk. */
  start(name: string, input: unknown, options?: StartOptions): Promise<RunId>
  /** Waits for the end of a run, at most `wait` milliseconds; then it returns the run's current status. */
  result(run: RunId, options: { readonly wait: number }): Promise<RunResult>
  /** Cancels a run, and what it has started. */
  cancel(run: RunId, options: { readonly by: string; readonly reason?: string }): Promise<void>
  /** No step of the run begins until it is resumed; steps that are under way may finish. */
  pause(run: RunId, options: { readonly by: string; readonly reason: string | null }): Promise<void>
  /** Lets a paused run go on. */
  resume(run: RunId, options: { readonly by: string }): Promise<void>
  /** Lets a failed run go on from the step that failed. */
  retry(run: RunId, options: { readonly by: string; readonly kind: Kind }): Promise<RetryReport>
  /** Answers the task that asks whether a step happened. */
  resolve(run: RunId, step: string, answer: StepAnswer): Promise<TaskId>
  /** The workers of the server. A tenant can see that they are stopped, but cannot give orders. */
  readonly fleet: Pick<Fleet, 'order' | 'stop' | 'lift' | 'stopped'>
  /** Circuit breakers, and a command that closes one. */
  readonly circuits: Pick<Circuits, 'list' | 'reset'>
  /** A file that an agent's run has left, by its hash. */
  artifact(run: RunId, hash: string): Promise<Artifact>
  /** The definitions of the system that were loaded with this ledger. */
  readonly versions: Pick<Versions, 'list'>
  /** Explains why no worker takes a run that has been due for a while; null if one may. */
  lacks(run: RunSummary): Promise<string | null>
  /** Sends the events of one batch: the ledger numbers them in this order. */
  sendInOrder(events: readonly IncomingEvent[], options?: SendOptions): Promise<readonly (Receipt | TrihandError)[]>
  /** Returns what an event would start, without sending it. */
  rehearse(event: IncomingEvent): Promise<Rehearsal>
  /** Returns the result of an event at handlers with flow control. */
  trail(event: StoredEvent): Promise<EventTrail>
  /** A run whose id was given out and that has not begun; null: it has begun, or the id is unknown. */
  queued(run: RunId): Promise<QueuedRun | null>
  /** Returns the text without the secrets that this process knows, for errors and logs. */
  redact(text: string): string
  /** Webhook deliveries from outside, and those that were refused and kept. */
  readonly webhooks: Pick<Webhooks, 'receive' | 'replay' | 'rehearse'>
  /** Message queues: put a message, list what waits, revive what was given up. */
  readonly queues: Pick<Queues, 'list' | 'show' | 'put' | 'revive' | 'revivedBy'>
  /** Schedules: list, pause, resume, run now, backfill. */
  readonly schedules: Pick<
    Schedules,
    'list' | 'show' | 'slots' | 'pause' | 'resume' | 'runNow' | 'backfill' | 'rehearseBackfill'
  >
  /** What people are asked, and their decisions. */
  readonly tasks: Pick<
    Tasks,
    'show' | 'view' | 'claim' | 'unclaim' | 'saveDraft' | 'markWhere' | 'followUp' | 'submit' | 'submitMany' | 'now'
  >
  /** The memory of sessions. */
  readonly sessions: Pick<Sessions, 'show' | 'documentAt'>
  /** Runs a run again as a new one, from a given step on. */
  readonly reruns: Pick<Reruns, 'preview' | 'rerun'>
  /** The recorded facts of runs that have not ended. */
  readonly openRuns: Pick<OpenRuns, 'read'>
  /** Credentials of HTTP callers. */
  readonly tokens: Tokens
  /** Requests that carry an idempotency key, and their first answers. */
  readonly requests: Requests
  /** Filters that people save for lists. */
  readonly filters: Filters
  /** Conversations, one turn at a time. */
  readonly chats: Pick<Chats, 'send' | 'show' | 'list' | 'stop' | 'view' | 'listen'>
  /** Plans that people write down, approve and run. */
  readonly plans: Pick<Plans, 'propose' | 'revise' | 'approve' | 'discard' | 'show' | 'list' | 'run' | 'runs'>
  /** Commands to many runs at once. */
  readonly jobs: Pick<Jobs, 'begin' | 'show'>
  /** The same system for another tenant, who has no access to the data of this one. */
  of(tenant: TenantId): Promise<Service>
  /** Pauses and resumes handlers that have a flow gate. */
  readonly handlers: Readonly<
    Record<'pause' | 'resume', (name: string, options: { readonly by: string }) => Promise<void>>
  >
  /** The health of this process. */
  readonly vitals: Pick<Vitals, 'trouble' | 'wroteAt' | 'capacity' | 'backlog' | 'probe' | 'dispatcherTrouble'>
  /** Queries for pages and people. May be a moment old. */
  readonly reader: Reader
  /** The commits of all processes. Null: no other process writes the ledger, and the topic `changes` reports every one. */
  readonly changeFeed: TenantChangeFeed | null
  /** The HTTP endpoint of the dispatcher, if it has one. It authenticates its caller by itself. */
  readonly endpoint: DispatcherEndpoint | null
  /** The definition that new runs follow now. */
  readonly system: System
  /** Which models of its agents answer from scripts, and why; null: none. */
  readonly simulatedBecause: string | null
  /** Which ledger this is, and whether it outlives the process. */
  readonly ledger: { readonly kind: string; readonly durable: boolean; readonly description: string }
}

/** The change feed of one tenant (ports/change-feed.ts). */
export interface TenantChangeFeed {
  begin(): Promise<ChangePosition>
  since(position: ChangePosition): Promise<ChangePage | null>
  follow(stream: StreamId, listener: () => void): () => void
}
