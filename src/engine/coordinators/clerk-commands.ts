/**
 * Commands to a clerk from outside (a run is asked for, pause, resume, declare): callers in this process line up, many share one append.
 *
 * Owns the queue of each clerk, and load, decide, append, again after a conflict. Needs no lease. A command is decided in the order of its
 * arrival, on the state that the one before it has left; it gets its own answer and its own refusal.
 *
 * clerk-commands-1  No command is refused because others write to the same clerk: after a conflict it is decided again on the new state.
 * clerk-commands-2  Commands of one moment share one append, of a bounded size. What they cost the ledger grows with their number.
 * clerk-commands-3  A command that fails by itself fails alone: the others of its append are decided without it.
 * clerk-commands-4  In a process that also holds the clerk, the commands and the clerk write in turns: neither waits for the other to be
 *                   out of work.
 */
import type { Advance } from '#engine/core/advance.ts'
import { type ChainHead, EMPTY_CHAIN, headOf } from '#engine/core/chain.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { isShutDown, isStoreTrouble } from '#engine/core/patience.ts'
import { pauseAfterConflict } from '#engine/core/turn-queue.ts'
import { commitBirths } from '#engine/run/births.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ClerkId, Instant } from '#model/kernel/ids.ts'
import type { Refusal } from '#model/kernel/machine.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import { CheckpointPace } from './checkpoint-pace.ts'
import { birthOf, changeAfter, lookAtClerk, waitsBetween } from './clerk-state.ts'
import { inTurn } from './clerk-turns.ts'
import type { ClerkFact, Duty } from './duty.ts'

/** A kind of clerk under one definition. Commands with the same `keeping` may share an append. */
export interface ClerkRole<State, Fact extends ClerkFact, Minds extends Duty<State, Fact>> {
  readonly id: ClerkId
  /** The name that workers know it by. */
  readonly handler: string
  readonly keeping: object
  readonly duty: () => Minds
  /** The state of a clerk that does not exist yet. */
  readonly initial: State
  /** What decisions need to know beside the state, which it may complete for them; asked again after each conflict. */
  readonly prepare?: (
    duty: Minds,
    state: State,
    commands: readonly Pick<ClerkCommand<State, Fact, Minds>, 'keys'>[],
  ) => Promise<State>
  /** The event types it listens to, if it does. */
  readonly types?: (state: State) => readonly string[]
}

export interface ClerkCommand<State, Fact extends ClerkFact, Minds> {
  /** `now` is not before the clerk's last fact. Called again after a conflict: the last call counts. */
  readonly advance: (state: State, now: Instant, duty: Minds) => Advance<State, Fact>
  /** What it asks about by name, for those who prepare the state. */
  readonly keys?: readonly (string | null)[]
  /** How many bytes it brings along, about. Absent: few. */
  readonly bytes?: number
}

/** So many commands share an append, and so many bytes of what they bring. */
const MOST_COMMANDS = 256
const MOST_BYTES = 1_000_000
/** So long, and of so many clerks, the state is kept after the last command. Later, reading it anew may cost less than what others wrote. */
const KNOWN_FOR_MS = 1_000
const MOST_KNOWN = 16

type AnyDuty = Duty<unknown, ClerkFact>
type AnyRole = ClerkRole<unknown, ClerkFact, AnyDuty>

interface Waiting {
  readonly role: AnyRole
  readonly command: ClerkCommand<unknown, ClerkFact, AnyDuty>
  readonly resolve: (state: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A command that was decided: what it comes to if the append is written. */
interface Decided {
  readonly waiting: Waiting
  readonly state: unknown
  readonly refusal: Refusal | null
  readonly error: unknown
}

/** The clerk as it was read or written last. */
interface Known {
  readonly keeping: object
  readonly duty: AnyDuty
  readonly pace: CheckpointPace
  /** Null: it does not exist yet. */
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
  /** At most so many at once: fewer after an append that failed by itself. */
  most: number
  conflicts: number
}

export class ClerkCommands {
  private readonly lines = new Map<ClerkId, Line>()

  /** Answers the state after the command; a refusal throws. */
  ask<State, Fact extends ClerkFact, Minds extends Duty<State, Fact>>(
    context: EngineContext,
    role: ClerkRole<State, Fact, Minds>,
    command: ClerkCommand<State, Fact, Minds>,
  ): Promise<State> {
    return new Promise<State>((resolve, reject) => {
      const line = this.lineOf(context, role.id)
      line.waiting.push({ role, command, resolve, reject } as unknown as Waiting)
      if (line.isBusy) return
      line.isBusy = true
      // Not at once: commands of the same moment come together.
      void Promise.resolve().then(() => this.drain(context, role.id, line))
    })
  }

  /** A clerk that was just commanded is still known: only what others wrote since is read. */
  private lineOf(context: EngineContext, id: ClerkId): Line {
    const line = this.lines.get(id)
    if (line === undefined) {
      const first = { waiting: [], isBusy: false, known: null, idleSince: 0, most: MOST_COMMANDS, conflicts: 0 }
      this.lines.set(id, first)
      return first
    }
    if (!line.isBusy && context.clock.now() >= line.idleSince + KNOWN_FOR_MS) line.known = null
    return line
  }

  private async drain(context: EngineContext, id: ClerkId, line: Line): Promise<void> {
    while (line.waiting.length > 0) {
      // Also after a success: whoever lost against this process so far gets its chance before the next append.
      await pauseAfterConflict(context, line.conflicts)
      await inTurn(context, id, () => this.round(context, line))
    }
    line.isBusy = false
    line.idleSince = context.clock.now()
    this.forget(id, line)
  }

  /** Of those that have nothing to do, the last few stay. */
  private forget(id: ClerkId, line: Line): void {
    this.lines.delete(id)
    this.lines.set(id, line)
    if (this.lines.size <= MOST_KNOWN) return
    for (const [other, { isBusy }] of this.lines) {
      if (!isBusy) this.lines.delete(other)
      if (this.lines.size <= MOST_KNOWN) return
    }
  }

  /** One append of the first that wait. What was not written stays in line. */
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
      // clerk-commands-3
      if (batch.length > 1 && !isStoreTrouble(error) && !isShutDown(error)) {
        line.most = Math.ceil(batch.length / 2)
        return
      }
      line.waiting = line.waiting.slice(batch.length)
      for (const { reject } of batch) reject(error)
    }
  }

  /** Null: another writer came first, and nothing was written. */
  private async attempt(
    context: EngineContext,
    line: Line,
    batch: readonly Waiting[],
  ): Promise<readonly Decided[] | null> {
    const [{ role }] = batch as [Waiting]
    const known = await this.look(context, line, role)
    line.known = known
    const { duty } = known
    const asked = batch.map(({ command }) => command)
    known.state = (await role.prepare?.(duty, known.state, asked)) ?? known.state
    const { decided, facts: own, state } = decideAll(batch, known, Math.max(context.clock.now(), known.head.lastAt))
    if (own.length === 0) return decided
    const isWritten = await inTurn(context, duty.passes?.(own) ?? null, () =>
      this.write(context, role, known, { facts: own, state }),
    )
    return isWritten ? decided : null
  }

  private async write(
    context: EngineContext,
    role: AnyRole,
    known: Known,
    { facts: own, state }: { readonly facts: readonly ClerkFact[]; readonly state: unknown },
  ): Promise<boolean> {
    const { duty } = known
    const checkpoint = await known.pace.due(own.length, () => duty.checkpoint(state))
    const facts = checkpoint === null ? own : [...own, ...checkpoint.facts]
    const { runs, events, writes: others = [], signals = [], documents: born = [] } = await duty.births(own)
    const documents = [...born, ...(checkpoint?.documents ?? [])]
    const { write, head } = writeOf(context, role, known, facts)
    const waits = waitsBetween(role.types?.(known.state) ?? [], role.types?.(state) ?? [])
    const writes = [{ ...write, ...waits }, ...others, ...runs.map((run) => run.write)]
    const outcome = await commitBirths(context, { writes, events, signals, documents }, runs)
    if (outcome.kind === 'conflict') {
      // A run with this id exists: the command that asks for it again fails by itself (clerk-commands-3).
      const twin = outcome.reason === 'taken' ? undefined : runs.find(({ id }) => id === outcome.stream)
      if (twin !== undefined) throw new TrihandError('RUN_EXISTS', `there is a run ${twin.id} already`)
      return false
    }
    known.pace.wrote(facts)
    known.state = checkpoint?.state ?? state
    known.head = head
    known.record ??= { stream: role.id, signal: 0 }
    duty.written(own)
    context.worker.signal([role.id, ...signals])
    return true
  }

  private async look(context: EngineContext, { known }: Line, role: AnyRole): Promise<Known> {
    if (known?.keeping === role.keeping && known.record !== null) {
      const [record] = await context.ledger.load([role.id], { after: known.head.version })
      if (record == null) throw new TrihandError('NOT_FOUND', `there is no clerk ${role.id}`)
      if (record.version === known.head.version) return known
      const lastAt = Math.max(known.head.lastAt, record.facts.at(-1)?.recordedAt ?? 0)
      known.pace.read(record.facts)
      known.state = known.duty.follow(known.state, record.facts)
      known.head = { version: record.version, headHash: record.headHash, lastAt }
      return known
    }
    const { keeping } = role
    const [duty, pace] = [role.duty(), new CheckpointPace()]
    const restored = await lookAtClerk(context, role.id, duty)
    if (restored === null) return { keeping, duty, pace, record: null, state: role.initial, head: EMPTY_CHAIN }
    const { state, record } = restored
    pace.read(record.facts)
    return { keeping, duty, pace, record: { stream: role.id, signal: record.signal }, state, head: headOf(record) }
  }
}

/** The first in line that may share an append. */
const firstOf = ({ waiting, most }: Line): readonly Waiting[] => {
  const keeping = waiting[0]?.role.keeping
  let bytes = 0
  let count = 0
  for (const { role, command } of waiting) {
    bytes += command.bytes ?? 0
    if (count > 0 && (count >= most || bytes > MOST_BYTES || role.keeping !== keeping)) break
    count++
  }
  return waiting.slice(0, count)
}

const decideAll = (
  batch: readonly Waiting[],
  { state: before, duty }: Known,
  now: Instant,
): { readonly decided: readonly Decided[]; readonly facts: readonly ClerkFact[]; readonly state: unknown } => {
  const facts: ClerkFact[] = []
  let state = before
  const decided = batch.map((waiting): Decided => {
    try {
      const advance = waiting.command.advance(state, now, duty)
      state = advance.state
      for (const fact of advance.facts) facts.push(fact)
      return { waiting, state, refusal: advance.refusal, error: null }
    } catch (error) {
      return { waiting, state, refusal: null, error }
    }
  })
  return { decided, facts, state }
}

const writeOf = (context: EngineContext, role: AnyRole, { record, head }: Known, facts: readonly ClerkFact[]) => {
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
