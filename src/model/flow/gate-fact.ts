/**
 * The data types of a gate: its policies, its facts, its commands and its state.
 *
 * Owns the types only. The rules are in gate.ts (decide) and gate-state.ts (evolve). Everything stored is plain JSON.
 */
import type { Arrival, Call, Candidate, CandidateEvent } from '#model/event/arrival.ts'
import type { BatchPolicy } from '#model/flow/policies/batch.ts'
import type { Bursts, DebouncePolicy } from '#model/flow/policies/debounce.ts'
import type { FanInPolicy } from '#model/flow/policies/fan-in.ts'
import type { Claim, Claims, IdempotencyPolicy } from '#model/flow/policies/idempotency.ts'
import type { Lines, OverlapPolicy } from '#model/flow/policies/overlap.ts'
import type { RateLimitPolicy, RateState } from '#model/flow/policies/rate-limit.ts'
import type { StartFact, Starts } from '#model/flow/policies/starts.ts'
import type { ThrottlePolicy, ThrottleState, Turn } from '#model/flow/policies/throttle.ts'
import type { Gathering, Window, Windows } from '#model/flow/policies/window.ts'
import type { DueMap } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'

/** The flow control of one handler in its normal form: data only. Key expressions are evaluated by the engine. */
export interface FlowPolicies {
  readonly idempotency: IdempotencyPolicy | null
  readonly whilePaused: 'suppress' | 'hold'
  readonly rateLimit: RateLimitPolicy | null
  readonly debounce: DebouncePolicy | null
  readonly batch: BatchPolicy | null
  readonly overlap: OverlapPolicy
  /** How many runs with the same overlap key may run at once; absent: one. */
  readonly room?: number
  readonly throttle: ThrottlePolicy | null
  /** Absent: events of its triggers are independent of each other. */
  readonly fanIn?: FanInPolicy
}

/** Why an event did not reach the gate's policies. */
export interface RefusedEvent {
  readonly sequence: number
  readonly reason: 'filter' | 'error' | 'hop_limit' | 'reentry'
  readonly detail: string
}

export type SuppressReason =
  | RefusedEvent['reason']
  | 'duplicate'
  | 'paused'
  | 'rate_limit'
  | 'debounced'
  | 'overlap'
  | 'fan_in'
  /** A person withdrew an event or a call that was waiting. */
  | 'cancelled'

/** An event that waits to start, and where. */
export interface Waiter {
  readonly event: CandidateEvent
  readonly place: WaitingPlace
}

/** The place of an event that waits to start. */
export type WaitingPlace =
  | { readonly kind: 'held' }
  | { readonly kind: 'window'; readonly key: string }
  | { readonly kind: 'line'; readonly key: string }

/** `cancel` lets the run clean up, and the next run waits for that; `terminate` does not. */
export type StopMode = 'cancel' | 'terminate'

type At = { readonly at: Instant }

export type GateFact =
  /** Only in a gate that records actual starts. */
  | StartFact
  | (At & { readonly type: 'gate.opened'; readonly cursor: number })
  /** From now on the gate listens for events of these types, each after its own sequence. */
  | (At & { readonly type: 'gate.listened'; readonly types: readonly ListenedType[] })
  /** Every event up to `cursor` has been processed, and of the later ones those in `beyond`. */
  | (At & { readonly type: 'gate.read'; readonly cursor: number; readonly beyond: readonly number[] })
  /** Only in a gate that is a shared budget: a turn was taken. */
  | (At & { readonly type: 'gate.turned'; readonly turn: Turn })
  /** The number of runs that were called by name so far; the facts that follow record what happened to this call. */
  | (At & { readonly type: 'gate.asked'; readonly number: number })
  | (At & {
      readonly type: 'trigger.suppressed'
      readonly sequence: number
      readonly reason: SuppressReason
      readonly detail: string
      /** The run that includes this event, or that prevented its run. */
      readonly into: RunId | null
      readonly retryAt: Instant | null
      /** The idempotency key of the event; free again if this event held it. */
      readonly key: string | null
      /** The run that it was to become part of, if that is not the run with its own id. */
      readonly promised?: RunId
      /** The event was a call: its run is created and ended in one append, so that the caller finds out. */
      readonly call?: Call
    })
  | (At & { readonly type: 'gate.held'; readonly arrival: Arrival; readonly claim: Claim | null })
  /** This many held arrivals, oldest first, continue with their keys; the facts that follow say where. */
  | (At & { readonly type: 'gate.released'; readonly count: number })
  /** One more event counts against the rate limit. */
  | (At & { readonly type: 'gate.counted'; readonly key: string; readonly countsUntil: Instant })
  | (At & {
      readonly type: 'gate.window_opened'
      readonly key: string
      readonly window: Window
      readonly firesAt: Instant
      readonly claim: Claim | null
    })
  | (At & {
      readonly type: 'gate.window_joined'
      readonly key: string
      readonly arrival: Arrival
      readonly take: Gathering['take']
      readonly firesAt: Instant
      readonly claim: Claim | null
    })
  | (At & { readonly type: 'gate.window_closed'; readonly key: string })
  /** A leading burst started or was extended. */
  | (At & {
      readonly type: 'gate.burst_extended'
      readonly key: string
      readonly run: RunId
      readonly openedAt: Instant
      readonly endsAt: Instant
    })
  /** Waits for the end of another run; `displaces` is the number of earlier waiters that it replaces. */
  | (At & {
      readonly type: 'gate.buffered'
      readonly candidate: Candidate
      readonly displaces: number
      readonly claim: Claim | null
    })
  /** The first waiter of this line leaves it; the next fact says where it goes. */
  | (At & { readonly type: 'gate.called'; readonly line: string })
  /** A run is created. It may be claimed from `notBefore` on. */
  | (At & {
      readonly type: 'gate.started'
      readonly run: RunId
      readonly events: readonly number[]
      readonly how: Candidate['how']
      readonly notBefore: Instant | null
      readonly priority: number
      /** The gate must be notified of the run's end: it is the run's parent. */
      readonly tracked: boolean
      /** The overlap key, if runs of the same key may not overlap. */
      readonly line: string | null
      readonly turn: Turn | null
      /** A turn of a shared budget: it is recorded there, with this run's start. */
      readonly sharedTurn?: Turn
      readonly keys: readonly string[]
      readonly claim: Claim | null
      readonly call?: Call
      /** From the second attempt on: these events have their outcome already, and failed. */
      readonly attempt?: number
      readonly trigger?: string
      /** What its start costs; absent: 1. */
      readonly cost?: number
    })
  /** A waiting event is replaced by a newer one with the same key. */
  | (At & { readonly type: 'gate.withdrawn'; readonly sequence: number; readonly place: WaitingPlace })
  /** `by` waits for the end of this run, which has the key of its call. */
  | (At & { readonly type: 'gate.followed'; readonly run: RunId; readonly by: RunId })
  /** That run has ended: `by` is notified. */
  | (At & { readonly type: 'gate.unfollowed'; readonly run: RunId; readonly by: RunId })
  | (At & { readonly type: 'gate.cancel_wanted'; readonly run: RunId; readonly mode: StopMode })
  /** `keepMs`: how long after their claim its keys are kept; null: they are free. */
  | (At & {
      readonly type: 'gate.run_ended'
      readonly run: RunId
      readonly status: RunStatus
      readonly keepMs: number | null
      /** For a batch with failed events: what happens to their keys, whatever happens to the others. */
      readonly items?: EndedKeys
    })
  | (At & { readonly type: 'gate.paused'; readonly by: string })
  | (At & { readonly type: 'gate.resumed'; readonly by: string })
  /** The whole state: facts before this one need not be read. */
  | (At & { readonly type: 'gate.checkpointed'; readonly state: OpenGate })
  /**
   * From now on the claims of these keys are in documents (kept-claims.ts), and no longer in the state. Written right after each checkpoint, so
   * that a program that does not know the documents meets this fact and stops. `swept`: up to where documents were searched for expired claims.
   */
  | (At & { readonly type: 'gate.keys_kept'; readonly keys: readonly string[]; readonly swept?: string })

export type GateFactType = GateFact['type']

type Now = { readonly now: Instant }
/** `runOf` names the run that an event would start: every worker gets the same answer, always. */
export type Ruled = Now & {
  readonly policies: FlowPolicies
  /** For triggers with options of their own: those options, with the handler's for the rest. */
  readonly ofTriggers?: ReadonlyMap<string, FlowPolicies>
  readonly runOf: (sequence: number) => RunId
  /** The turns that are taken of the shared budget, if the throttle shares one. */
  readonly shared?: ThrottleState
}

export type GateCommand =
  | (Now & { readonly type: 'open_gate'; readonly cursor: number })
  /**
   * The event types of the handler's triggers. `position`: the last event so far; the gate listens for later events of a new type, and no longer
   * for those of a removed type.
   */
  | (Now & { readonly type: 'listen'; readonly types: readonly string[]; readonly position: number })
  /**
   * Events in ledger order. `cursor`: no new event will appear up to it. An arrival at or below the gate's cursor, or one that was delivered
   * before, is ignored: where a store commits out of order, pass a cursor that lags, and deliver the tail again.
   */
  | (Ruled & {
      readonly type: 'arrive'
      readonly arrivals: readonly Arrival[]
      readonly refused: readonly RefusedEvent[]
      readonly cursor: number
    })
  /** A run is called by name. `problem`: an expression that could not be evaluated. */
  | (Ruled & {
      readonly type: 'call'
      readonly arrival: Omit<Arrival, 'sequence'> & { readonly call: Call }
      readonly problem: string | null
    })
  /** Withdraws a call that waits: its run is created and ended in one append. Refused if no call with this run waits. */
  | (Now & { readonly type: 'withdraw_call'; readonly run: RunId; readonly by: string; readonly detail: string })
  /** Drops a call that waits, because its run exists. Does nothing if no call with this run waits. */
  | (Now & { readonly type: 'forget_call'; readonly run: RunId })
  /** `by` received this run for its call and waits for its end. */
  | (Now & { readonly type: 'follow'; readonly run: RunId; readonly by: RunId })
  /** Moves on what is due, at most a few hundred at a time: call gateWakeAt again afterwards. */
  | (Ruled & { readonly type: 'pass_time' })
  | (Ruled & {
      readonly type: 'end_runs'
      readonly ended: readonly EndedRun[]
    })
  /** For a gate that is a shared budget. */
  | (Now & { readonly type: 'take_turns'; readonly turns: readonly Turn[] })
  /** For a gate that records actual starts. */
  | (Now & { readonly type: 'record_starts'; readonly starts: readonly StartFact[] })
  | (Now & { readonly type: 'pause_gate' | 'resume_gate'; readonly by: string })
  | (Now & { readonly type: 'checkpoint_gate' })

/** Keys of events that failed in a batch: those that are free, and those that their next run holds. */
export interface EndedKeys {
  readonly freed: readonly string[]
  readonly again: readonly string[]
  readonly next: RunId | null
}

export interface EndedRun {
  readonly run: RunId
  readonly status: RunStatus
  /** Events of a batch that have failed in it, and the run in which they would be retried. */
  readonly failed?: { readonly arrivals: readonly Arrival[]; readonly next: RunId; readonly roll: number }
}

/** A run whose end matters to the gate. */
export interface TrackedRun {
  readonly keys: readonly string[]
  readonly line: string | null
  readonly how: Candidate['how']
  readonly attempt?: number
  readonly trigger?: string
  /** The life of the run that the gate tracks; absent: the first. */
  readonly life?: number
  /** The gate wants the run cancelled: the gate's coordinator cancels it, again after a crash. */
  readonly stop: StopMode | null
}

export interface PendingArrival {
  readonly arrival: Arrival
  readonly claim: Claim | null
}

/** An event type for which a gate listens: events after one sequence, and up to another if the handler no longer listens for the type. */
export interface ListenedType {
  readonly type: string
  readonly after: number
  readonly until: number | null
}

export interface OpenGate {
  readonly kind: 'open'
  readonly types: readonly ListenedType[]
  readonly cursor: number
  readonly beyond: readonly number[]
  /** The number of runs called by name. */
  readonly calls: number
  readonly pausedBy: string | null
  /** In the order of arrival. After a resume they continue, and until all have gone, new arrivals wait after them. */
  readonly held: readonly PendingArrival[]
  readonly claims: Claims
  /** How many keys were stored since documents were last searched for expired ones, and up to where that search went. */
  readonly sweep?: { readonly since: number; readonly after: string }
  readonly rates: RateState
  readonly windows: Windows
  readonly bursts: Bursts
  readonly lines: Lines
  readonly throttles: ThrottleState
  /** Only for a gate that records actual starts; absent: it records none. */
  readonly starts?: Starts
  readonly runs: DueMap<TrackedRun>
  /** Runs that wait for the end of a run of this gate. Absent: none ever did. */
  readonly followers?: readonly { readonly run: RunId; readonly by: RunId }[]
}

export type GateState = { readonly kind: 'none' } | OpenGate
