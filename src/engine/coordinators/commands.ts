/**
 * Commands to a coordinator from outside (call, pause, resume, declare): callers in this process queue up, and many share one append.
 *
 * Owns the queue of each coordinator, and the loop of load, decide and append, repeated after a conflict. Needs no lease. Commands are decided
 * in the order of their arrival, each on the state after the one before it; each gets its own answer or its own refusal.
 *
 * coordinator-commands-1  No command is refused because others write to the same coordinator: after a conflict it is decided again.
 * coordinator-commands-2  Simultaneous commands share one append, of a bounded size. Their cost for the ledger grows linearly.
 * coordinator-commands-3  A command that fails by itself fails alone: the others of its append are decided without it.
 * coordinator-commands-4  In a process that also holds the coordinator, the commands and the coordinator take turns to write: neither waits
 *                   until the other has no more work.
 */
import type { Advance } from '#engine/core/advance.ts'
import { type ChainHead, EMPTY_CHAIN, headOf } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { isShutDown, isStoreTrouble } from '#engine/core/store-retry.ts'
import { pauseAfterConflict } from '#engine/core/turn-queue.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { CoordinatorId, Instant } from '#model/kernel/ids.ts'
import type { Refusal } from '#model/kernel/machine.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import { CheckpointPace } from './checkpoint-pace.ts'
import type { CoordinatorFact, CoordinatorLogic } from './coordinator-logic.ts'
import { birthOf, changeAfter, lookAtCoordinator, waitsBetween } from './state.ts'
import { inTurn } from './turns.ts'

/** A kind of coordinator under one definition. Commands with the same `config` may share an append. */
export interface CoordinatorRole<State, Fact extends CoordinatorFact, Minds extends CoordinatorLogic<State, Fact>> {
  readonly id: CoordinatorId
  /** The handler name of its stream, by which workers choose what they claim. */
  readonly handler: string
  readonly config: object
  readonly logic: () => Minds
  /** The state of a coordinator that does not exist yet. */
  readonly initial: State
  /** Reads what decisions need in addition to the state, and may complete the state. Called again after each conflict. */
  readonly prepare?: (
    logic: Minds,
    state: State,
    commands: readonly Pick<CoordinatorCommand<State, Fact, Minds>, 'keys'>[],
  ) => Promise<State>
  /** The event types that the coordinator listens to. Absent: none. */
  readonly types?: (state: State) => readonly string[]
}

export interface CoordinatorCommand<State, Fact extends CoordinatorFact, Minds> {
  /** Decides the command. `now` is not before the coordinator's last fact. Called again after a conflict: the last call counts. */
  readonly advance: (state: State, now: Instant, logic: Minds) => Advance<State, Fact>
  /** Idempotency keys of the command, for `prepare`. */
  readonly keys?: readonly (string | null)[]
  /** The approximate size of the command in bytes. Default: small. */
  readonly bytes?: number
}

/** Maximum number of commands in one append, and of their bytes. */
const MOST_COMMANDS = 256
const MOST_BYTES = 1_000_000
/** How long after the last command, and of how many coordinators, the state is cached. Later, a new read may be cheaper than catching up. */
const KNOWN_FOR_MS = 1_000
const MOST_KNOWN = 16

type AnyLogic = CoordinatorLogic<unknown, CoordinatorFact>
type AnyRole = CoordinatorRole<unknown, CoordinatorFact, AnyLogic>

interface Waiting {
  readonly role: AnyRole
  readonly command: CoordinatorCommand<unknown, CoordinatorFact, AnyLogic>
  readonly resolve: (state: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A command that was decided: its result if the append is written. */
interface Decided {
  readonly waiting: Waiting
  readonly state: unknown
  readonly refusal: Refusal | null
  readonly error: unknown
}

/** Cached coordinator, as of the last read or write. */
interface Known {
  readonly config: object
  readonly logic: AnyLogic
  readonly pace: CheckpointPace
  /** Null if it does not exist yet. */
  record: Pick<StreamRecord, 'stream' | 'signal'> | null
  state: unknown
  head: ChainHead
}

interface Line {
  waiting: Waiting[]
  isBusy: boolean
  known: Known | null
  /** When its last command was answered. */
  idleSince: Instant
  /** Maximum number of commands in the next append: fewer after an append that failed by itself. */
  most: number
  conflicts: number
}

export class CoordinatorCommands {
  private readonly lines = new Map<CoordinatorId, Line>()

  /** Returns the state after the command; a refusal throws. */
  ask<State, Fact extends CoordinatorFact, Minds extends CoordinatorLogic<State, Fact>>(
    context: EngineContext,
    role: CoordinatorRole<State, Fact, Minds>,
    command: CoordinatorCommand<State, Fact, Minds>,
  ): Promise<State> {
    return new Promise<State>((resolve, reject) => {
      const line = this.lineOf(context, role.id)
      line.waiting.push({ role, command, resolve, reject } as unknown as Waiting)
      if (line.isBusy) return
      line.isBusy = true
      // Asynchronous, so that simultaneous commands share an append.
      void Promise.resolve().then(() => this.drain(context, role.id, line))
    })
  }

  /** Returns the queue of the coordinator. If it was just used, its state is still cached and only newer facts are read. */
  private lineOf(context: EngineContext, id: CoordinatorId): Line {
    const line = this.lines.get(id)
    if (line === undefined) {
      const first = { waiting: [], isBusy: false, known: null, idleSince: 0, most: MOST_COMMANDS, conflicts: 0 }
      this.lines.set(id, first)
      return first
    }
    if (!line.isBusy && context.clock.now() >= line.idleSince + KNOWN_FOR_MS) line.known = null
    return line
  }

  private async drain(context: EngineContext, id: CoordinatorId, line: Line): Promise<void> {
    while (line.waiting.length > 0) {
      // Also after a success: a writer that lost against this process so far gets its chance before the next append.
      await pauseAfterConflict(context, line.conflicts)
      await inTurn(context, id, () => this.round(context, line))
    }
    line.isBusy = false
    line.idleSince = context.clock.now()
    this.forget(id, line)
  }

  /** Keeps only the most recent idle queues. */
  private forget(id: CoordinatorId, line: Line): void {
    this.lines.delete(id)
    this.lines.set(id, line)
    if (this.lines.size <= MOST_KNOWN) return
    for (const [other, { isBusy }] of this.lines) {
      if (!isBusy) this.lines.delete(other)
      if (this.lines.size <= MOST_KNOWN) return
    }
  }

  /** Writes one append with the first waiting commands. Commands that were not written stay in the queue. */
  private async round(context: EngineContext, line: Line): Promise<void> {
    const batch = firstOf(line)
    try {
      const decided = await this.attempt(context, line, batch)
      if (decided === null) {
        line.conflicts++
        return
      }
      line.waiting = line.waiting.slice(batch.length)
      line.conflicts = Math.floor(line.conflicts / 2)
      line.most = Math.min(MOST_COMMANDS, line.most * 2)
      for (const one of decided) answer(one)
    } catch (error) {
      line.known = null
      // coordinator-commands-3
      if (batch.length > 1 && !isStoreTrouble(error) && !isShutDown(error)) {
        line.most = Math.ceil(batch.length / 2)
        return
      }
      line.waiting = line.waiting.slice(batch.length)
      for (const { reject } of batch) reject(error)
    }
  }

  /** Returns null if another writer was first and nothing was written. */
  private async attempt(
    context: EngineContext,
    line: Line,
    batch: readonly Waiting[],
  ): Promise<readonly Decided[] | null> {
    const [{ role }] = batch as [Waiting]
    const known = await this.look(context, line, role)
    line.known = known
    const { logic } = known
    const asked = batch.map(({ command }) => command)
    known.state = (await role.prepare?.(logic, known.state, asked)) ?? known.state
    const { decided, facts: own, state } = decideAll(batch, known, Math.max(context.clock.now(), known.head.lastAt))
    if (own.length === 0) return decided
    const isWritten = await inTurn(context, logic.passes?.(own) ?? null, () =>
      this.write(context, role, known, { facts: own, state }),
    )
    return isWritten ? decided : null
  }

  private async write(
    context: EngineContext,
    role: AnyRole,
    known: Known,
    { facts: own, state }: { readonly facts: readonly CoordinatorFact[]; readonly state: unknown },
  ): Promise<boolean> {
    const { logic } = known
    const checkpoint = await known.pace.due(own.length, () => logic.checkpoint(state))
    const facts = checkpoint === null ? own : [...own, ...checkpoint.facts]
    const { runs, events, writes: others = [], signals = [], documents: born = [] } = await logic.spawned(own)
    const documents = [...born, ...(checkpoint?.documents ?? [])]
    const { write, head } = writeOf(context, role, known, facts)
    const waits = waitsBetween(role.types?.(known.state) ?? [], role.types?.(state) ?? [])
    const writes = [{ ...write, ...waits }, ...others, ...runs.map((run) => run.write)]
    const outcome = await commitSpawned(context, { writes, events, signals, documents }, runs)
    if (outcome.kind === 'conflict') {
      // A run with this id exists: the command that asks for it again fails by itself (coordinator-commands-3).
      const twin = outcome.reason === 'taken' ? undefined : runs.find(({ id }) => id === outcome.stream)
      if (twin !== undefined) throw new TrihandError('RUN_EXISTS', `a run ${twin.id} already exists`)
      return false
    }
    known.pace.wrote(facts)
    known.state = checkpoint?.state ?? state
    known.head = head
    known.record ??= { stream: role.id, signal: 0 }
    logic.written(own)
    context.worker.signal([role.id, ...signals])
    return true
  }

  private async look(context: EngineContext, { known }: Line, role: AnyRole): Promise<Known> {
    if (known?.config === role.config && known.record !== null) {
      const [record] = await context.ledger.load([role.id], { after: known.head.version })
      if (record == null) throw new TrihandError('NOT_FOUND', `there is no coordinator ${role.id}`)
      if (record.version === known.head.version) return known
      const lastAt = Math.max(known.head.lastAt, record.facts.at(-1)?.recordedAt ?? 0)
      known.pace.read(record.facts)
      known.state = known.logic.follow(known.state, record.facts)
      known.head = { version: record.version, headHash: record.headHash, lastAt }
      return known
    }
    const { config } = role
    const [logic, pace] = [role.logic(), new CheckpointPace()]
    const restored = await lookAtCoordinator(context, role.id, logic)
    if (restored === null) return { config, logic, pace, record: null, state: role.initial, head: EMPTY_CHAIN }
    const { state, record } = restored
    pace.read(record.facts)
    return { config, logic, pace, record: { stream: role.id, signal: record.signal }, state, head: headOf(record) }
  }
}

/** Returns the first commands of the queue that may share an append. */
const firstOf = ({ waiting, most }: Line): readonly Waiting[] => {
  const config = waiting[0]?.role.config
  let bytes = 0
  let count = 0
  for (const { role, command } of waiting) {
    bytes += command.bytes ?? 0
    if (count > 0 && (count >= most || bytes > MOST_BYTES || role.config !== config)) break
    count++
  }
  return waiting.slice(0, count)
}

const decideAll = (
  batch: readonly Waiting[],
  { state: before, logic }: Known,
  now: Instant,
): { readonly decided: readonly Decided[]; readonly facts: readonly CoordinatorFact[]; readonly state: unknown } => {
  const facts: CoordinatorFact[] = []
  let state = before
  const decided = batch.map((waiting): Decided => {
    try {
      const advance = waiting.command.advance(state, now, logic)
      state = advance.state
      for (const fact of advance.facts) facts.push(fact)
      return { waiting, state, refusal: advance.refusal, error: null }
    } catch (error) {
      return { waiting, state, refusal: null, error }
    }
  })
  return { decided, facts, state }
}

const writeOf = (context: EngineContext, role: AnyRole, { record, head }: Known, facts: readonly CoordinatorFact[]) => {
  if (record !== null) return changeAfter(context, record, head, facts)
  const write = birthOf(context, role, facts)
  const lastAt = write.facts.at(-1)?.recordedAt ?? 0
  return { write, head: { version: write.facts.length, headHash: write.headHash, lastAt } }
}

const answer = ({ waiting, state, refusal, error }: Decided): void => {
  if (error !== null) return waiting.reject(error)
  if (refusal !== null) return waiting.reject(new TrihandError(refusal.code, refusal.detail))
  waiting.resolve(state)
}
