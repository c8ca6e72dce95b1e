/**
 * What a coordinator minds, as the coordinator sees it: how its facts fold, what there is to do now, which runs its facts start.
 *
 * Owns the seam between a coordinator's life (coordinator.ts) and its rules (gate-duty.ts, schedule-duty.ts).
 */
import type { NewRun } from '#engine/run/new-run.ts'
import type { ClaimableId, CoordinatorId, Instant, StreamId } from '#model/kernel/ids.ts'
import type { DocumentWrite, NewEvent, SealedFact, StreamRecord, StreamWrite } from '#ports/ledger.ts'

/** Any machine's fact: named and dated; the rest is its own. */
export interface CoordinatorFact {
  readonly type: string
  readonly at: Instant
}

export interface Found<State, Fact> {
  readonly facts: readonly Fact[]
  /** The state after these facts. */
  readonly state: State
  /** There may be more to do right after this is written. */
  readonly more: boolean
}

export interface Checkpoint<State, Fact> {
  readonly facts: readonly Fact[]
  /** The state after them. */
  readonly state: State
  readonly documents: readonly DocumentWrite[]
}

export interface Spawned {
  readonly runs: readonly NewRun[]
  readonly events: readonly NewEvent[]
  /** What is written to other coordinators with it. Somebody may write there first: then all of it is decided again. */
  readonly writes?: readonly StreamWrite[]
  /** Who is woken by it. */
  readonly signals?: readonly ClaimableId[]
  /** What callers look up later. */
  readonly documents?: readonly DocumentWrite[]
}

export interface CoordinatorLogic<State, Fact extends CoordinatorFact> {
  /** The state after the record's facts, the last of the stream; null if they do not reach back far enough to tell. */
  restore(record: StreamRecord, isWhole: boolean): State | null
  /** A coordinator in this state was taken up, or others wrote to it: what it wants of others, and may not have got, is asked again. */
  resumed(state: State): void
  /** The state after news that others wrote. */
  follow(state: State, changeFeed: readonly SealedFact[]): State
  /**
   * Reads what has come and decides. No facts: there is nothing to do. `now` never runs back in a stream, whatever clocks do: what
   * is counted by the time of facts is decided by it. `isCalled`: a signal may have come since it last looked; without one no run
   * that it minds has ended, since each end is a signal.
   */
  find(state: State, now: () => Instant, isCalled: boolean): Promise<Found<State, Fact>>
  /** The gate that `births` of these facts writes to as well, if it does. */
  passes?(facts: readonly Fact[]): CoordinatorId | null
  /** What these facts bring into being. */
  spawned(facts: readonly Fact[]): Promise<Spawned>
  /** A run that its facts would begin exists already. True: it begins it no more, so that the decision is worth making again. */
  exists?(state: State, run: StreamId): boolean
  /** These facts are in the ledger: what they ask of others may be asked now. */
  written(facts: readonly Fact[]): void
  /** Settles when those it asked something of have heard it; rejects if the store did not let it. */
  told(): Promise<void>
  /** Facts from which the whole state can be restored, and what is written with them. */
  checkpoint(state: State): Promise<Checkpoint<State, Fact>>
  wakeAt(state: State): Instant | null
}
