/**
 * Concurrent changes of one session by runs and other callers: they wait in one queue, and those that wait together share one append.
 *
 * Owns the queue, the head that the writes are built on, and the checkpoints. A run's facts are in the same append as its changes.
 *
 * session-writes-1  A session has at most one append of this process under way; changes that arrive meanwhile go into the next one.
 * session-writes-2  A conflict loses nothing: after a conflict on the session it is reloaded and all changes are written again with the same
 *                   results; after a conflict on a run only that run decides again.
 * session-writes-3  There are never more changes between two checkpoints than a load reads back, whichever callers make them.
 */
import type { AppendSource } from '#engine/core/commit.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { commitOnce } from '#engine/core/single-append.ts'
import { pauseAfter } from '#engine/core/store-retry.ts'
import { CallGroups, forEachOwner, pauseAfterConflict } from '#engine/core/turn-queue.ts'
import { shiftEvent } from '#engine/run/run-request.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { SessionId, StreamId } from '#model/kernel/ids.ts'
import type { Append, Outcome, StreamWrite } from '#ports/ledger.ts'
import { type MemoryChange, SessionHead } from './session-head.ts'

type Written = Exclude<Outcome, { readonly kind: 'conflict' }>
type Conflict = Exclude<Outcome, Written>

/** The change that one run, or one caller from outside, requests. */
export interface SessionCall {
  /** The caller's head of the session, updated with the write. Null if it has none. */
  readonly head: SessionHead | null
  readonly changes: readonly MemoryChange[]
  /** Requests a checkpoint instead of a change. */
  readonly isCheckpoint: boolean
  /** Other writes in the same append. */
  readonly append: Omit<Append, 'appendId'>
  readonly isNew: boolean
  /** True if the caller no longer waits: its call is left out of later appends. */
  readonly isGone: () => boolean
  settle(outcome: Outcome): void
  failed(error: TrihandError): 'keep' | 'drop'
}

type RunSource = AppendSource & { readonly isGone: boolean }

/** The result of a group: all of it is written, or some calls must be written again. */
type Result =
  | { readonly kind: 'written' }
  | { readonly kind: 'conflict'; readonly outcome: Conflict }
  /** `isOneBad`: the ledger refuses the writes of one call, and the answer does not say which. */
  | { readonly kind: 'failed'; readonly kept: readonly SessionCall[]; readonly isOneBad?: boolean }

/** Maximum calls in one append. Together with the changes that are allowed before a checkpoint they are fewer than a load reads back. */
const MOST_TOGETHER = 40
const MAX_HEADS = 256

export const NOTHING_BESIDE = { writes: [], events: [], signals: [], documents: [] } as const

const LEFT: Conflict = { kind: 'conflict', reason: 'version', stream: '' as StreamId, version: 0, epoch: 0 }

export class SessionWrites {
  private readonly context: EngineContext
  private readonly calls = new CallGroups<SessionId, SessionCall>((id, calls) => this.work(id, calls), MOST_TOGETHER)
  /** Cached heads, as of this process's last write. */
  private readonly heads = new Map<SessionId, SessionHead>()

  constructor(context: EngineContext) {
    this.context = context
  }

  add(id: SessionId, call: SessionCall): void {
    this.calls.add(id, call)
  }

  /** True if this process has written the session and knows of no end: a run that only writes need not read it first. */
  isOpen(id: SessionId): boolean {
    return this.heads.get(id)?.endedFor === null
  }

  /** Adds a run whose append contains changes of the session's memory. `head`: null if the run has not read the session. */
  addRun(
    id: SessionId,
    head: SessionHead | null,
    changes: readonly MemoryChange[],
    append: Append,
    run: RunSource,
  ): void {
    this.add(id, {
      ...{ head, changes, append, isCheckpoint: false, isNew: false },
      isGone: () => run.isGone,
      settle: (outcome) => {
        run.settle(outcome)
        // After a conflict the run adds itself again, once it has read the other writer's facts.
        if (outcome.kind !== 'conflict') this.context.commit.request(run)
      },
      failed: (error) => run.failed(error),
    })
  }

  private async work(id: SessionId, calls: readonly SessionCall[]): Promise<void> {
    let waiting = calls
    let most = MOST_TOGETHER
    for (let conflicts = 0, troubles = 0; waiting.length > 0; ) {
      waiting = withoutGone(waiting)
      const group = togetherIn(waiting).slice(0, most)
      const rest = waiting.slice(group.length)
      const result = await this.write(id, group)
      if (result.kind === 'written') {
        waiting = rest
        conflicts = 0
      } else if (result.kind === 'failed') {
        waiting = [...result.kept, ...rest]
        if (result.isOneBad === true) most = 1
        else if (result.kept.length > 0) await pauseAfter(this.context, troubles++)
      } else {
        const { outcome } = result
        const left = this.writtenAgain(id, group, outcome)
        // An event's id is taken, and the answer does not say whose: then each call is written alone.
        if (left.length === group.length && !isOn(id, outcome)) most = 1
        waiting = [...left, ...rest]
        if (isOn(id, outcome)) this.heads.delete(id)
        await pauseAfterConflict(this.context, ++conflicts)
      }
    }
  }

  private async write(id: SessionId, group: readonly SessionCall[]): Promise<Result> {
    if (group.length === 0) return { kind: 'written' }
    try {
      const head = await this.headFor(id, group)
      const isCheckpoint = group.some((call) => call.isCheckpoint)
      if (isCheckpoint || head.needsCheckpoint) {
        const outcome = await this.takeCheckpoint(head)
        if (outcome.kind === 'conflict') return { kind: 'conflict', outcome }
        if (isCheckpoint) {
          for (const call of group) call.settle(outcome)
          return { kind: 'written' }
        }
      }
      return await this.send(head, group)
    } catch (cause) {
      // Nothing of the group was sent: the session cannot be read, or accepts no changes.
      const error = cause instanceof TrihandError ? cause : new TrihandError('INTERNAL', String(cause), { cause })
      return { kind: 'failed', kept: group.filter((call) => call.failed(error) === 'keep') }
    }
  }

  /** session-writes-2: returns the calls to write again. A run whose own stream has changed gets the conflict, and adds itself again. */
  private writtenAgain(id: SessionId, group: readonly SessionCall[], outcome: Conflict): readonly SessionCall[] {
    if (isOn(id, outcome)) return group
    const owner = group.length === 1 ? group[0] : group.find((call) => isOf(call, outcome))
    owner?.settle(outcome)
    return group.filter((call) => call !== owner)
  }

  private async headFor(id: SessionId, group: readonly SessionCall[]): Promise<SessionHead> {
    const known = this.heads.get(id) ?? (await this.load(id))
    for (const { head } of group) if (head !== null) known.follow(head)
    return known
  }

  private async load(id: SessionId): Promise<SessionHead> {
    const head = await SessionHead.load(this.context, id)
    const [oldest] = this.heads.keys()
    if (this.heads.size >= MAX_HEADS && oldest !== undefined) this.heads.delete(oldest)
    this.heads.set(id, head)
    return head
  }

  private async takeCheckpoint(head: SessionHead): Promise<Outcome> {
    const { commit, appendId, clock } = this.context
    const write = await head.checkpointWrite(clock.now())
    const append = { ...NOTHING_BESIDE, appendId: appendId(), writes: write.facts.length === 0 ? [] : [write] }
    const outcome = await commitOnce(commit, append)
    if (outcome.kind !== 'conflict') head.confirm(write)
    return outcome
  }

  private send(head: SessionHead, group: readonly SessionCall[]): Promise<Result> {
    const { commit, appendId, clock } = this.context
    const changes = group.flatMap((call) => call.changes)
    const write = head.write(changes, clock.now())
    const append = joined(appendId(), group, write.facts.length === 0 ? [] : [write])
    return new Promise((resolve) => {
      const written = (outcome: Written): void => {
        head.confirm(write)
        dealOut(head, group, outcome)
      }
      commit.request(new GroupAppend(append, group, written, resolve))
    })
  }
}

/** Settles the calls whose callers have left, and returns the others. */
const withoutGone = (calls: readonly SessionCall[]): readonly SessionCall[] => {
  for (const call of calls) if (call.isGone()) call.settle(LEFT)
  return calls.filter((call) => !call.isGone())
}

/** Returns the first calls that may share an append: a checkpoint is always alone. */
const togetherIn = (calls: readonly SessionCall[]): readonly SessionCall[] => {
  const end = calls.findIndex((call) => call.isCheckpoint)
  return end < 0 ? calls : calls.slice(0, Math.max(1, end))
}

const isOn = (id: StreamId, outcome: Conflict): boolean => outcome.reason !== 'taken' && outcome.stream === id

const isOf = ({ append }: SessionCall, outcome: Conflict): boolean =>
  outcome.reason !== 'taken' && append.writes.some(({ stream }) => stream === outcome.stream)

/** Merges the appends. Each created run refers to the index of its event in the common list. */
const joined = (appendId: string, group: readonly SessionCall[], session: readonly StreamWrite[]): Append => {
  const writes: StreamWrite[] = []
  const events: Append['events'][number][] = []
  for (const { append } of group) {
    const offset = events.length
    writes.push(...append.writes.map((write) => shiftEvent(write, offset)))
    events.push(...append.events)
  }
  return {
    appendId,
    writes: [...writes, ...session],
    events,
    signals: group.flatMap(({ append }) => append.signals),
    documents: group.flatMap(({ append }) => append.documents),
  }
}

const dealOut = (head: SessionHead, group: readonly SessionCall[], outcome: Written): void => {
  let from = 0
  for (const [i, call] of group.entries()) {
    const sequences = outcome.sequences.slice(from, from + call.append.events.length)
    from += call.append.events.length
    call.head?.follow(head)
    call.settle({ ...outcome, sequences, signalled: i === 0 ? outcome.signalled : [] })
  }
}

class GroupAppend implements AppendSource {
  behind: AppendSource | null = null
  isWaiting = false
  isBusy = false
  readonly isNew: boolean
  private readonly append: Append
  private readonly group: readonly SessionCall[]
  private readonly written: (outcome: Written) => void
  private readonly resolve: (result: Result) => void

  constructor(
    append: Append,
    group: readonly SessionCall[],
    written: (outcome: Written) => void,
    resolve: (result: Result) => void,
  ) {
    this.append = append
    this.group = group
    this.isNew = group.every((call) => call.isNew)
    this.written = written
    this.resolve = resolve
  }

  next(): Append {
    return this.append
  }

  settle(outcome: Outcome): void {
    if (outcome.kind === 'conflict') return this.resolve({ kind: 'conflict', outcome })
    this.written(outcome)
    this.resolve({ kind: 'written' })
  }

  /** After an unknown outcome the same append is sent again. After a definite refusal each call decides if it is written again. */
  failed(error: TrihandError): 'keep' | 'drop' {
    if (error.outcome !== 'unknown' && !error.retryable && this.group.length > 1) {
      this.resolve({ kind: 'failed', kept: this.group, isOneBad: true })
      return 'drop'
    }
    const kept = this.group.filter((call) => call.failed(error) === 'keep')
    if (error.outcome === 'unknown') return 'keep'
    if (kept.length === this.group.length) return 'keep'
    this.resolve({ kind: 'failed', kept })
    return 'drop'
  }
}

export const sessionWrites = forEachOwner((context: EngineContext) => new SessionWrites(context))
