/**
 * The coordinator logic of a queue: reads messages and starts cycles, each a run of the handler that processes the queue.
 *
 * Owns the reading of messages and of the ends of cycles, and the creation of a cycle's run. The model decides which messages are next
 * (model/flow/queue.ts).
 *
 * queue-coordinator-1  The messages of a cycle are acknowledged by the end of its run: no message is lost between the two.
 */
import { advanceQueue, CommandSequence } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { routeAll } from '#engine/core/events.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { eventRoot } from '#engine/core/route.ts'
import { type NewRun, newRun } from '#engine/run/new-run.ts'
import { leaseFor, resourceClaimOfDecided } from '#engine/run/resource-claim.ts'
import { type FunctionDefinition, isListened } from '#manifest/define/system.ts'
import { DEAD_MESSAGE, messageType, type QueueDefinition, queueSource } from '#manifest/flow/queues.ts'
import { requestersIn } from '#model/access/requester.ts'
import type { Event, StoredEvent } from '#model/event/event.ts'
import { batchOutcome } from '#model/flow/policies/batch-outcome.ts'
import { queue, queueWakeAt, resumeQueueFrom } from '#model/flow/queue.ts'
import type { Cycle, OpenQueue, QueueCommand, QueueFact, QueueState } from '#model/flow/queue-fact.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readQueueFact, readRunFact } from '#model/kernel/fact-codec.ts'
import { type Instant, type QueueId, type RunId, type SessionId, timedRunId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { run as runMachine } from '#model/run/run.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { SealedFact, StreamRecord } from '#ports/ledger.ts'
import type { Checkpoint, CoordinatorLogic, Found, Look, Spawned } from './coordinator-logic.ts'
import { endedRuns } from './ended-runs.ts'

export interface QueueConfig {
  readonly id: QueueId
  readonly definition: QueueDefinition
  /** The session whose memory all cycles share. */
  readonly session: SessionId
}

type Started = Extract<QueueFact, { readonly type: 'queue.cycle_started' }>
type Ended = Extract<QueueFact, { readonly type: 'queue.cycle_ended' }>
type Messages = ReadonlyMap<number, StoredEvent>

/** Maximum number of messages that one decision skips: it bounds the size of an append. */
const PAGE = 256

export class QueueCoordinator implements CoordinatorLogic<QueueState, QueueFact> {
  private readonly context: EngineContext
  private readonly config: QueueConfig

  constructor(context: EngineContext, config: QueueConfig) {
    this.context = context
    this.config = config
  }

  restore(record: StreamRecord): QueueState | null {
    return resumeQueueFrom(record.facts.map(readQueueFact))
  }

  resumed(): void {}

  follow(state: QueueState, facts: readonly SealedFact[]): QueueState {
    return fold(queue, facts.map(readQueueFact), state)
  }

  async find(before: QueueState, now: () => Instant, look: Look): Promise<Found<QueueState, QueueFact>> {
    if (before.kind === 'none') return { facts: [], state: before, more: false }
    const { policy } = this.config.definition
    const runs = before.cycles.map(({ run }) => run)
    const ended = look !== 'none' ? await endedRuns(this.context.ledger, runs) : []
    const ends = await Promise.all(
      ended.map(async ({ run, status }) => ({ run, failed: await this.failedIn(before, run, status) })),
    )
    const turn = new CommandSequence<QueueState, QueueCommand, QueueFact>(before, advanceQueue)
    for (const end of ends) turn.ask({ type: 'end_cycle', now: now(), policy, ...end })
    if (turn.state.kind === 'open' && turn.state.cycles.length < policy.cycles) {
      const unread = await this.unread(turn.state)
      turn.ask({ type: 'take', now: now(), policy, unread, runOf: (cycle) => this.runOf(cycle, now()) })
    }
    const { facts, state } = turn
    return { facts, state, more: facts.length > 0 }
  }

  async spawned(facts: readonly QueueFact[]): Promise<Spawned> {
    const started = facts.filter((fact) => fact.type === 'queue.cycle_started')
    const ended = facts.filter((fact) => fact.type === 'queue.cycle_ended')
    const dead = this.tellsDead() ? ended.filter((fact) => fact.dead.length > 0) : []
    const messages = await this.fetch([
      ...started.map(({ messages: [first] }) => first?.sequence ?? 0),
      ...dead.flatMap((fact) => fact.dead.map(({ sequence }) => sequence)),
    ])
    const { events, runs } = routeAll(
      this.context,
      dead.flatMap((fact) => this.givenUp(fact, messages)),
    )
    return { events, runs: [...runs, ...started.map((fact) => this.bear(fact, messages))] }
  }

  written(): void {}

  told(): Promise<void> {
    return Promise.resolve()
  }

  async checkpoint(state: QueueState): Promise<Checkpoint<QueueState, QueueFact>> {
    const fact = { type: 'queue.checkpointed', at: this.context.clock.now(), state: state as OpenQueue } as const
    return { facts: [fact], state, documents: [] }
  }

  wakeAt(state: QueueState): Instant | null {
    return queueWakeAt(state, this.config.definition.policy)
  }

  // -- reading --------------------------------------------------------------------------------------------------------

  /** Reads as many of the next messages as one decision can place. */
  private async unread({ cursor, passing, unread }: OpenQueue): Promise<readonly number[]> {
    const { batch, cycles } = this.config.definition.policy
    const limit = Math.min(PAGE, passing) + Math.min(unread, batch * cycles)
    if (limit === 0) return []
    const { ledger, tenant } = this.context
    const types = [messageType(this.config.definition.name)]
    const page = await ledger.events({ tenant, types, after: cursor, limit })
    return page.map(({ sequence }) => sequence)
  }

  private async fetch(sequences: readonly number[]): Promise<Messages> {
    if (sequences.length === 0) return new Map()
    const { ledger, tenant } = this.context
    const found = await ledger.events({ tenant, sequences, limit: sequences.length })
    return new Map(found.map((event) => [event.sequence, event]))
  }

  /** Returns the failed messages of a cycle: all of them, unless its run succeeded, or ended as partial and its output names them. */
  private async failedIn(state: OpenQueue, run: RunId, status: RunStatus): Promise<ReadonlySet<number>> {
    const cycle = state.cycles.find((one) => one.run === run) as Cycle
    const sequences = cycle.messages.map(({ sequence }) => sequence)
    if (status === 'success') return new Set()
    if (status !== 'partial') return new Set(sequences)
    const { ledger, tenant } = this.context
    const [record] = await ledger.load([run])
    const ended = record == null ? null : fold(runMachine, record.facts.map(readRunFact))
    if (ended?.kind !== 'ended' || ended.output === null) return new Set(sequences)
    const events = await ledger.events({ tenant, sequences, limit: sequences.length })
    const ids = events.map(({ id }) => id)
    const failed = new Set(batchOutcome(ids, await fetchValue(this.context, ended.output), null).failed)
    return new Set(events.flatMap(({ id, sequence }) => (failed.has(id) ? [sequence] : [])))
  }

  // -- what facts ask for ---------------------------------------------------------------------------------------------

  private runOf(cycle: number, now: Instant): RunId {
    return timedRunId(now, this.context.ids.digest(`${this.config.id}\n${cycle}`))
  }

  private handler(): FunctionDefinition {
    const { name, handler } = this.config.definition
    const definition = this.context.system().functions.get(handler ?? '')
    if (definition === undefined) throw new TrihandError('NOT_FOUND', `no function processes the queue ${name}`)
    return definition
  }

  /** Creates the run of a cycle. The first of its messages represents the run in the chain of causes. */
  private bear({ run: id, messages }: Started, known: Messages): NewRun {
    const { context, config } = this
    const definition = this.handler()
    const sequences = messages.map(({ sequence }) => sequence)
    const first = known.get(sequences[0] ?? 0)
    if (first === undefined) throw new TrihandError('LEDGER_CORRUPT', `a message of ${config.id} does not exist`)
    const roots = { event: eventRoot(first), payload: first.data }
    const resourceClaim = resourceClaimOfDecided(definition, { tenant: context.tenant, session: config.session, roots })
    const { correlationId, causationId, traceparent, hops, chain } = first
    return newRun(context, {
      id,
      definition,
      systemHash: context.system().hash,
      tenant: context.tenant,
      now: context.clock.now(),
      input: { kind: 'events', sequences },
      cause: {
        correlationId,
        causationId,
        traceparent,
        hops,
        chain,
        ...requestersIn(sequences.flatMap((one) => known.get(one) ?? [])),
      },
      event: null,
      session: config.session,
      parent: null,
      coordinator: config.id,
      resourceClaim,
      lease: leaseFor(resourceClaim, () => context.worker.reserve(definition.name)),
    })
  }

  private source(): string {
    return queueSource(this.config.definition.name)
  }

  private tellsDead(): boolean {
    return isListened(this.context.system(), DEAD_MESSAGE, this.source())
  }

  /** Returns an event for each message that is given up. Its id names the message and the run, so that each time is reported once. */
  private givenUp({ run, dead }: Ended, known: Messages): readonly Event[] {
    const { tenant, clock } = this.context
    const { name } = this.config.definition
    return dead.flatMap(({ sequence, attempts }) => {
      const message = known.get(sequence)
      if (message === undefined) return []
      const { id, data, correlationId, traceparent, hops, chain } = message
      return {
        id: `${id}/${run}`,
        tenant,
        source: this.source(),
        type: DEAD_MESSAGE,
        subject: id,
        time: clock.now(),
        data: { queue: name, id, data, attempts, run_id: run },
        ...{ correlationId, causationId: id, traceparent },
        ...{ hops: hops + 1, chain: [...chain, this.config.definition.handler ?? name] },
        ...requestersIn([message]),
      }
    })
  }
}
