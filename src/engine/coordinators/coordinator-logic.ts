/**
 * The logic of a kind of coordinator: how its facts are folded, what there is to do now, which runs its facts start.
 *
 * Owns the interface between the life cycle of a coordinator (coordinator.ts) and its rules (gate-coordinator.ts, queue-coordinator.ts,
 * schedule-coordinator.ts).
 */
import type { NewRun } from '#engine/run/new-run.ts'
import type { ClaimableId, CoordinatorId, Instant, StreamId } from '#model/kernel/ids.ts'
import type { DocumentWrite, NewEvent, SealedFact, StreamRecord, StreamWrite } from '#ports/ledger.ts'

/** The common part of all facts: type and time. */
export interface CoordinatorFact {
  readonly type: string
  readonly at: Instant
}

/**
 * Which tracked runs are read to see if they have ended. `elsewhere`: those that this process does not have in memory, since it knows of the
 * ends that it writes itself. `all`: also those, because another worker may have taken one over and ended it.
 */
export type Look = 'none' | 'elsewhere' | 'all'

export interface Found<State, Fact> {
  readonly facts: readonly Fact[]
  /** The state after these facts. */
  readonly state: State
  /** True if there may be more to do right after this is written. */
  readonly more: boolean
  /** True if a look `elsewhere` left out runs: before it parks, the coordinator looks at all. */
  readonly leftOut?: boolean
}

export interface Checkpoint<State, Fact> {
  readonly facts: readonly Fact[]
  /** The state after the checkpoint's facts. */
  readonly state: State
  readonly documents: readonly DocumentWrite[]
}

export interface Spawned {
  readonly runs: readonly NewRun[]
  readonly events: readonly NewEvent[]
  /** Writes to other coordinators in the same append. If another writer is first there, the whole decision is made again. */
  readonly writes?: readonly StreamWrite[]
  /** Streams that are woken after the append. */
  readonly signals?: readonly ClaimableId[]
  /** Documents that callers look up later. */
  readonly documents?: readonly DocumentWrite[]
}

export interface CoordinatorLogic<State, Fact extends CoordinatorFact> {
  /** The state after the record's facts, which are the last of the stream; null if they do not reach back far enough to restore it. */
  restore(record: StreamRecord, isWhole: boolean): State | null
  /** Called when the coordinator was loaded or others wrote to it: requests to others (cancels) that may be lost are made again. */
  resumed(state: State): void
  /** The state after facts that others wrote. */
  follow(state: State, facts: readonly SealedFact[]): State
  /**
   * Reads new input and decides. Returns no facts if there is nothing to do. `now` never goes back in a stream, even if clocks do: rules
   * that compare times of facts use it. `look`: a signal may have come since the last look; without a signal no tracked run has
   * ended, because each end is signalled.
   */
  find(state: State, now: () => Instant, look: Look): Promise<Found<State, Fact>>
  /** The gate that `spawned` of these facts also writes to; null if none. */
  passes?(facts: readonly Fact[]): CoordinatorId | null
  /** Returns the runs, events and writes that these facts cause. */
  spawned(facts: readonly Fact[]): Promise<Spawned>
  /** Called if a run that its facts would start already exists. True: it will not start this run again, so the decision is made again. */
  exists?(state: State, run: StreamId): boolean
  /** Called when these facts are in the ledger: requests that they contain (cancels) may be made now. */
  written(facts: readonly Fact[]): void
  /** Settles when all requested cancels were delivered; rejects if the store prevented one. */
  told(): Promise<void>
  /** Returns facts from which the whole state can be restored, and the documents that are written with them. */
  checkpoint(state: State): Promise<Checkpoint<State, Fact>>
  wakeAt(state: State): Instant | null
}
