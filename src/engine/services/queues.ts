/**
 * Queues as people and programs use them: put a message, count waiting messages, revive dead ones.
 *
 * Owns the entry to a queue: a message and its place in the queue are one append, so that the limit holds for concurrent puts.
 *
 * queues-1  A message with an id given by the sender is put once, however often it is sent.
 * queues-2  A refused put leaves no trace: neither a message nor a place.
 * queues-3  A put is refused if the queue is full, never because of concurrent puts.
 */
import { type QueueConfig, QueueCoordinator } from '#engine/coordinators/queue-coordinator.ts'
import type { CoordinatorRegistry } from '#engine/coordinators/registry.ts'
import { changeOf, lookAtCoordinator } from '#engine/coordinators/state.ts'
import { advanceQueue } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { checkEvent, isSameEvent, routeAll } from '#engine/core/events.ts'
import { pauseAfterConflict, TurnQueue } from '#engine/core/turn-queue.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { messageType, type QueueDefinition, queueSource } from '#manifest/flow/queues.ts'
import { OWN } from '#model/access/human-only.ts'
import { type AskedBy, requestersOf } from '#model/access/requester.ts'
import { type Event, isPlainId } from '#model/event/event.ts'
import { queueLength } from '#model/flow/queue.ts'
import type { QueueFact, QueuePolicy, QueueState } from '#model/flow/queue-fact.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readQueueFact } from '#model/kernel/fact-codec.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { toJson } from '#model/kernel/json.ts'

export interface QueueView {
  readonly name: string
  /** The function that processes the queue; null if there is none. */
  readonly handler: string | null
  /** Number of waiting messages. */
  readonly length: number
  readonly maxLength: number
  readonly onFull: QueuePolicy['onFull']
  /** Number of messages in running cycles. */
  readonly inFlight: number
  /** Number of messages that were given up and may be revived. */
  readonly dead: number
}

export interface PutReceipt {
  readonly id: string
  readonly sequence: number
  /** True if the message was already there. */
  readonly duplicate: boolean
}

export interface PutOptions extends AskedBy {
  /** Idempotency key: puts with the same id are one message. */
  readonly id?: string
  /** How long a put waits for room if the queue's `onFull` is `block`. Default: half a minute. */
  readonly waitMs?: number
}

const PATIENCE_MS = 30_000
const LOOK_AGAIN_MS = 200
/** After this many facts without a checkpoint a put writes one, because a put reads all facts after the last checkpoint. */
const TAIL = 256

/** How many of the last facts are searched for a revival that an earlier attempt of a request has just made. */
const FACTS_READ = 500

export class Queues {
  private readonly context: EngineContext
  private readonly book: CoordinatorRegistry
  /** Puts of this process into one queue take turns, because they would only conflict in the ledger. */
  private readonly turns = new TurnQueue<string>()

  constructor(context: EngineContext, book: CoordinatorRegistry) {
    this.context = context
    this.book = book
  }

  list(): Promise<readonly QueueView[]> {
    return Promise.all([...this.context.system().queues.keys()].map((name) => this.show(name)))
  }

  async show(name: string): Promise<QueueView> {
    const { definition, id } = this.book.queue(this.context, name)
    const state = (await lookAtCoordinator(this.context, id, this.logic(name)))?.state ?? { kind: 'none' }
    return viewOf(definition, state)
  }

  /** Puts a message. Refused with QUEUE_FULL if there is no room and none becomes free in time. */
  async put(name: string, data: unknown, { id, waitMs = PATIENCE_MS, ...asked }: PutOptions = {}): Promise<PutReceipt> {
    const { clock } = this.context
    const config = this.book.queue(this.context, name)
    const message = {
      ...(await this.check(name, data, id ?? `msg_${this.context.ids.uuid()}`)),
      ...requestersOf(asked),
    }
    const until = clock.now() + (config.definition.policy.onFull === 'block' ? waitMs : 0)
    for (;;) {
      const receipt = await this.turns.run(name, () => this.tryPut(config, message))
      if (receipt !== null) return receipt
      if (clock.now() >= until) throw full(config.definition)
      await new Promise<void>((resolve) => void clock.at(Math.min(until, clock.now() + LOOK_AGAIN_MS), resolve))
    }
  }

  /** Gives all attempts back to messages that were given up. Returns how many there were. */
  async revive(name: string, { by = 'local' }: { readonly by?: string } = {}): Promise<number> {
    const { dead } = await this.show(name)
    if (dead > 0) await this.book.askQueue(this.context, name, { type: 'revive', by })
    return dead
  }

  /** Returns how many messages this caller has revived since the instant. */
  async revivedBy(name: string, by: string, since: Instant): Promise<number> {
    const [record] = await this.context.ledger.load([this.book.queue(this.context, name).id], { last: FACTS_READ })
    const facts = (record?.facts ?? []).map(readQueueFact)
    return facts.reduce(
      (sum, fact) =>
        fact.type === 'queue.revived' && fact.by === by && fact.at >= since ? sum + fact.messages.length : sum,
      0,
    )
  }

  private logic(name: string): QueueCoordinator {
    return new QueueCoordinator(this.context, this.book.queue(this.context, name))
  }

  private async check(name: string, given: unknown, id: string): Promise<Event> {
    const data = toJson(given ?? {})
    const type = messageType(name)
    if (!isPlainId(id))
      throw new TrihandError('INPUT_INVALID', 'id must have 1 to 255 characters and no control characters')
    await checkEvent(this.context, type, data, OWN)
    const { tenant, clock } = this.context
    const cause = { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }
    return { id, tenant, source: queueSource(name), type, subject: null, time: clock.now(), data, ...cause }
  }

  /** Returns null if there is no room. */
  private async tryPut({ id, definition }: QueueConfig, message: Event): Promise<PutReceipt | null> {
    const { context } = this
    const logic = this.logic(definition.name)
    for (let conflicts = 0; ; await pauseAfterConflict(context, ++conflicts)) {
      const restored = await lookAtCoordinator(context, id, logic)
      if (restored === null) {
        await this.book.askQueue(context, definition.name, { type: 'open_queue' })
        continue
      }
      const { record, state } = restored
      const now = Math.max(context.clock.now(), record.facts.at(-1)?.recordedAt ?? 0)
      const decided = advanceQueue(state, { type: 'put', now, count: 1, policy: definition.policy })
      if (decided.refusal !== null) return null
      const { events, runs } = routeAll(context, [message])
      const own = changeOf(context, record, withCheckpoint(decided, record.facts.length, now))
      const writes = [own, ...runs.map(({ write }) => write)]
      const outcome = await commitSpawned(context, { writes, events, signals: [], documents: [] }, runs)
      if (outcome.kind !== 'conflict') {
        context.worker.signal([id])
        return { id: message.id, sequence: outcome.sequences[0] as number, duplicate: false }
      }
      if (outcome.reason !== 'taken') continue
      if (!isSameEvent(context, message, outcome.dataHash))
        throw new TrihandError('EVENT_ID_REUSED', `message ${message.id} of ${definition.name} exists with other data`)
      return { id: message.id, sequence: outcome.sequence, duplicate: true }
    }
  }
}

const full = ({ name, policy }: QueueDefinition): TrihandError =>
  new TrihandError('QUEUE_FULL', `${policy.maxLength} messages wait in ${name}, which is its limit`)

const withCheckpoint = (
  { facts, state }: { readonly facts: readonly QueueFact[]; readonly state: QueueState },
  tail: number,
  at: Instant,
): readonly QueueFact[] =>
  tail < TAIL || state.kind === 'none' ? facts : [...facts, { type: 'queue.checkpointed', at, state }]

const viewOf = ({ name, handler, policy }: QueueDefinition, state: QueueState): QueueView => {
  const { maxLength, onFull } = policy
  const about = { name, handler, maxLength, onFull }
  if (state.kind === 'none') return { ...about, length: 0, inFlight: 0, dead: 0 }
  const inFlight = state.cycles.reduce((sum, { messages }) => sum + messages.length, 0)
  return { ...about, length: queueLength(state), inFlight, dead: state.dead.length }
}
