/**
 * The engine's interface for its callers: send events, start, cancel, pause and retry runs, read results; start and stop.
 *
 * Owns how the parts of the engine are connected. Never opens a store and never reads a configuration (assemble.ts).
 */
import type { FindLogic } from '#engine/coordinators/coordinators.ts'
import { type EventTrail, queuedRun, trailOf } from '#engine/coordinators/flow-outcomes.ts'
import type { RetryReport } from '#engine/coordinators/gate-config.ts'
import { CoordinatorRegistry } from '#engine/coordinators/registry.ts'
import { Starts } from '#engine/coordinators/starts.ts'
import { type Artifact, artifactOf } from '#engine/outcome/artifacts.ts'
import { lookAtRun, type RunResult } from '#engine/outcome/result.ts'
import { type RunSteps, stepsOf } from '#engine/outcome/steps.ts'
import { applyBulkCommand, type BulkCommand } from '#engine/rerun/bulk.ts'
import { Reruns } from '#engine/rerun/reruns.ts'
import { retryWithReport } from '#engine/rerun/retry-run.ts'
import { RunEnd } from '#engine/run/end.ts'
import { externalCommand } from '#engine/run/external-command.ts'
import { OpenRuns } from '#engine/run/open-run.ts'
import { Queues } from '#engine/services/queues.ts'
import { Schedules } from '#engine/services/schedules.ts'
import { Sessions } from '#engine/services/sessions.ts'
import { Circuits } from '#engine/step/circuits.ts'
import { Tasks } from '#engine/tasks/tasks.ts'
import { Fleet } from '#engine/worker/fleet.ts'
import { Vitals } from '#engine/worker/vitals.ts'
import { Worker } from '#engine/worker/worker.ts'
import type { ExecutorDefinition } from '#manifest/define/executors.ts'
import type { System } from '#manifest/define/system.ts'
import { diff, misfit } from '#manifest/edit/edits.ts'
import type { Kind } from '#model/access/identity.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { QueuedRun } from '#model/flow/flow-outcome.ts'
import type { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, type RunId, SERVER_TENANT, type TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { createRedaction } from '#model/kernel/redaction.ts'
import { isEnded } from '#model/run/status.ts'
import type { Executor } from '#ports/executor.ts'
import type { Append, DocumentWrite } from '#ports/ledger.ts'
import { Commit } from './commit.ts'
import { Deadlines } from './deadlines.ts'
import type { EngineContext } from './engine-context.ts'
import type { EngineDeps, EngineOptions } from './engine-deps.ts'
import type { IncomingEvent, InnerSendOptions, InnerStartOptions, Receipt, Rehearsal, SendOptions } from './incoming.ts'
import { Intake } from './intake.ts'
import { type Observer, Observers } from './observers.ts'
import { Publish, type Subscriber, type Watcher } from './publish.ts'
import { type ChunkListener, TokenStream } from './token-stream.ts'

/** Length of the prefix of an append's id: each tenant of a process has its own prefix. */
const PREFIX = 10

export class Engine {
  readonly sessions: Sessions
  readonly schedules: Schedules
  readonly queues: Queues
  readonly tasks: Tasks
  readonly reruns: Reruns
  readonly openRuns: OpenRuns
  /** Belongs to the server, not to the tenant of this engine. */
  readonly fleet: Fleet
  /** Belongs to the process, not to the tenant of this engine. */
  readonly vitals: Vitals
  private readonly context: EngineContext
  private readonly intake: Intake
  private readonly worker: Worker
  private readonly book: CoordinatorRegistry
  private readonly deps: EngineDeps
  private readonly options: EngineOptions
  private readonly root: Engine
  private readonly observers: Observers
  /** Used on the root only: the engine of each tenant that this process has seen. */
  private readonly tenants = new Map<TenantId, Engine>()
  /** Used on the root only: the publisher of the tenant that made an append, by the prefix of the append's id. */
  private readonly publishers = new Map<string, Publish>()
  private system: System

  /** `root`: the first engine of this process. The engines of other tenants share its worker and its writer. */
  constructor(deps: EngineDeps, options: EngineOptions, root?: Engine) {
    this.deps = deps
    this.options = options
    this.root = root ?? this
    this.system = deps.system
    const { ledger, clock, ids, blobs, executors, enter, errors, dispatcher } = deps
    const observers = root?.observers ?? new Observers()
    const redaction = deps.redaction ?? createRedaction([])
    this.observers = observers
    const prefix = ids.uuid().slice(-PREFIX)
    let appends = 0
    const tenant = options.tenant ?? LOCAL_TENANT
    const workers = deps.workers ?? (() => Promise.resolve([]))
    this.book = new CoordinatorRegistry(ids, tenant)
    const publish = new Publish(observers)
    this.root.publishers.set(prefix, publish)
    this.root.tenants.set(tenant, this)
    const contextOf = (of: TenantId): EngineContext => this.root.of(of).context
    const findLogic: FindLogic = (context, ...asked) => this.root.of(context.tenant).book.findLogic(context, ...asked)
    this.vitals =
      root?.vitals ??
      new Vitals({
        clock,
        commitTrouble: () => this.context.commit.trouble,
        note: (documents) => this.intake.note(documents),
        slots: options.worker.slots,
        free: () => this.worker.free(),
        backlogs: () => [...this.tenants.values()].map(({ intake }) => intake.backlog),
        ...(deps.checkDispatcher && { checkDispatcher: deps.checkDispatcher }),
      })
    this.worker =
      root?.worker ??
      new Worker(
        {
          ...{ context: () => this.context, contextOf, dispatcher, errors, workers, findLogic },
          ledger: this.vitals.around(observers.around(ledger)),
        },
        options.worker,
      )
    this.context = {
      ledger,
      commit:
        root?.context.commit ??
        new Commit({ ledger, clock, ids }, options.commit, {
          written: (append) => this.tell(append),
          answered: (batch) => {
            this.vitals.wrote()
            observers.tell((observer) => observer.wrote(batch))
          },
          refused: (error, appends, kept) => observers.tell((observer) => observer.refused(error, appends, kept)),
        }),
      blobs,
      clock,
      ids,
      redaction,
      deadlines: root?.context.deadlines ?? new Deadlines(clock),
      executors: {
        get: (type) => executors.get(type) ?? this.performerOf(this.definition.executors.get(type), deps.remote),
      },
      price: deps.price ?? (() => null),
      document: deps.document ?? (() => Promise.resolve(null)),
      documents: deps.documents ?? (() => Promise.resolve([])),
      hasDocuments: deps.document !== undefined && deps.documents !== undefined,
      suppressed: deps.suppressed ?? (() => Promise.resolve([])),
      children: deps.children ?? (() => Promise.resolve([])),
      publish,
      observers,
      deltas: new TokenStream(redaction),
      tenant,
      system: () => this.definition,
      enter,
      worker: this.worker,
      circuits: new Circuits({ ledger, clock, tenant, tell: (type, about) => this.intake.tell(type, about) }),
      starts: new Starts(() => this.context),
      gates: {
        gateFor: (handler) => this.book.gateFor(this.definition, handler),
        call: (handler, asked) => this.book.callGate(this.context, handler, asked),
        retry: (handler, asked) => this.book.retryAtGate(this.context, handler, asked),
        pass: (handler, asked) => this.book.passGate(this.context, handler, asked),
        follow: (handler, run, by) => this.book.follow(this.context, handler, { run, by }),
        hearsEnd: (handler, parent) => this.book.hearsEnd(this.definition, handler, parent),
        isUndecided: (handler, event) => this.book.isUndecided(this.context, handler, event),
        withdraw: (handler, run, why) => this.book.withdrawCall(this.context, handler, { run, ...why }),
      },
      taskWorld: { misfit, diff, digest: (text) => ids.digest(text) },
      appendId: () => `${prefix}${(appends++).toString(36)}`,
    }
    this.intake = new Intake(this.context, options.intake)
    this.sessions = new Sessions(this.context)
    this.schedules = new Schedules(this.context, this.book)
    this.queues = new Queues(this.context, this.book)
    this.tasks = new Tasks(this.context)
    this.reruns = new Reruns(this.context)
    this.openRuns = new OpenRuns(this.context)
    this.fleet =
      root?.fleet ??
      new Fleet({
        ...{ ledger, clock, tenant, workers, system: () => this.definition },
        tell: (type, about) => this.intake.tell(type, about),
        follow: () => this.worker.lookForOrders(),
      })
  }

  /** Returns the engine of another tenant: it shares worker and writer, and has its own runs, events, gates and notifications. */
  of(tenant: TenantId): Engine {
    const { root } = this
    return root.tenants.get(tenant) ?? new Engine(root.deps, { ...root.options, tenant }, root)
  }

  private tell(append: Append): void {
    this.root.publishers.get(append.appendId.slice(0, PREFIX))?.committed(append)
  }

  private performerOf(definition: ExecutorDefinition | undefined, remote: EngineDeps['remote']): Executor | undefined {
    if (definition?.kind === 'remote') return remote?.(definition)
    return definition?.performer as Executor | undefined
  }

  /** Opens the declared coordinators. A process that only sends must do so too, so that its events find an open gate. */
  async declare(): Promise<void> {
    const all = this === this.root ? this.root.tenants.values() : [this]
    for (const { book, context } of all) if (context.tenant !== SERVER_TENANT) await book.declare(context)
  }

  async start(): Promise<void> {
    await this.worker.start()
    this.vitals.works = true
    await this.declare()
  }

  async stop(): Promise<void> {
    this.vitals.works = false
    await this.worker.stop()
    this.context.commit.stop()
    this.context.deadlines.stop()
  }

  /** New runs use this definition from now on; runs in progress go on with it, matched by their step names. */
  replace(system: System): void {
    this.root.system = system
  }

  get tenant(): TenantId {
    return this.context.tenant
  }

  get definition(): System {
    return this.root.system
  }

  get activeRunCount(): number {
    return this.worker.activeRunCount
  }

  subscribe(subscriber: Subscriber): () => void {
    return this.context.publish.subscribe(subscriber)
  }

  /** The watcher is called with the changes of each append of this process. */
  watch(watcher: Watcher): () => void {
    return this.context.publish.watch(watcher)
  }

  /** The observer is notified of what this process does for all its tenants. */
  observe(observer: Observer): () => void {
    return this.observers.add(observer)
  }

  /** The tenants that this process has seen, without the server's own. */
  get knownTenants(): readonly TenantId[] {
    return [...this.root.tenants.keys()].filter((tenant) => tenant !== SERVER_TENANT)
  }

  /** The listener is called with each chunk of an answer that this run receives in this process, first with what has arrived so far. */
  listen(run: RunId, listener: ChunkListener): () => void {
    return this.context.deltas.listen(run, listener)
  }

  /** Settles when this process takes no more work, because it was ordered to drain or was stopped. */
  get drained(): Promise<void> {
    return this.worker.whenStopped
  }

  get circuits(): Circuits {
    return this.context.circuits
  }

  send(event: IncomingEvent, options: InnerSendOptions = {}): Promise<Receipt> {
    return this.intake.send(event, options)
  }

  /** Sends the events of one batch; the ledger numbers them in the order of the list. */
  sendInOrder(
    events: readonly IncomingEvent[],
    options: SendOptions = {},
  ): Promise<readonly (Receipt | TrihandError)[]> {
    return this.intake.sendInOrder(events, options)
  }

  /** Returns what an event would start, without sending it. */
  rehearse(event: IncomingEvent): Promise<Rehearsal> {
    return this.intake.rehearse(event)
  }

  /** Writes documents in which a source keeps what it has seen. */
  note(documents: readonly DocumentWrite[]): Promise<void> {
    return this.intake.note(documents)
  }

  startRun(name: string, input: unknown, options: InnerStartOptions = {}): Promise<RunId> {
    return this.intake.start(name, input, options)
  }

  /** Works only for a handler whose flow control has a gate. */
  async pauseHandler(handler: string, by: string): Promise<void> {
    await this.book.askGate(this.context, handler, { type: 'pause_gate', by })
  }

  async resumeHandler(handler: string, by: string): Promise<void> {
    await this.book.askGate(this.context, handler, { type: 'resume_gate', by })
  }

  /** Also cancels a run that is still queued at its gate: it is removed from the queue. */
  async cancel(run: RunId, by: string, reason: string): Promise<void> {
    const queued = await this.queued(run)
    if (queued?.state === 'queued' && (await this.context.gates.withdraw(queued.handler, run, { by, detail: reason })))
      return
    await this.worker.cancel(this.context.tenant, run, by, reason)
  }

  /** Returns what is known of a run whose id was given out before it started; null if the run exists, or the id was never given out. */
  async queued(run: RunId): Promise<QueuedRun | null> {
    const [record] = await this.context.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
    return record == null ? queuedRun(this.context, run) : null
  }

  /** Returns what became of an event at handlers with flow control. */
  trail(event: StoredEvent): Promise<EventTrail> {
    return trailOf(this.context, event)
  }

  /** No step begins until the run is resumed; steps under way may finish. */
  async pause(run: RunId, by: string, reason: string | null): Promise<void> {
    await externalCommand(this.context, run, (now) => ({ type: 'pause_run', now, by, reason }))
  }

  async resume(run: RunId, by: string): Promise<void> {
    await externalCommand(this.context, run, (now) => ({ type: 'resume_run', now, by }))
  }

  /** `kind`: the kind of identity that `by` is. */
  retry(run: RunId, by: string, kind: Kind = 'user'): Promise<RetryReport> {
    return retryWithReport(this.context, run, { by, kind })
  }

  /** Applies the command of a bulk job to one of its runs. */
  applyBulkCommand(run: RunId, word: BulkCommand): Promise<void> {
    return applyBulkCommand(this.context, run, word)
  }

  /** Returns the value without the secrets that this process knows. */
  redact<Value extends Json>(value: Value): Value {
    return this.context.redaction.value(value) as Value
  }

  /** Returns a file that an agent's run has produced, by its hash. */
  artifact(run: RunId, hash: string): Promise<Artifact> {
    return artifactOf(this.context, run, hash)
  }

  /** Returns the state of each step so far; null if there is no such run, or not yet. */
  steps(run: RunId): Promise<RunSteps | null> {
    return stepsOf(this.context, run)
  }

  /** Returns the run's result, or its current status if it has not ended. */
  look(run: RunId): Promise<RunResult> {
    return lookAtRun(this.context, run)
  }

  /** Settles when the run has ended or the time is up, whichever comes first. Polls too, because another process may end the run. */
  async result(run: RunId, options: { readonly waitMs: number }): Promise<RunResult> {
    const { clock } = this.context
    const until = clock.now() + options.waitMs
    const ended = new RunEnd({ clock, publish: this.context.publish, changeFeed: this.deps.changeFeed }, run)
    try {
      for (;;) {
        const found = await this.look(run)
        const now = clock.now()
        if (isEnded(found.status) || now >= until) return found
        await ended.within(Math.min(LOOK_AGAIN_MS, until - now))
      }
    } finally {
      ended.forget()
    }
  }
}

const LOOK_AGAIN_MS = 1_000
