/**
 * What can be said about a gate: its policies, the facts that make it, the commands that ask for them, its state.
 *
 * Owns the words only. The rules are in gate.ts (decide) and gate-state.ts (evolve). Everything stored is plain JSON.
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
  /** So many runs of an overlap key may run at once; absent: one. */
  readonly room?: number
  readonly throttle: ThrottlePolicy | null
  /** Absent: events of its triggers have nothing to do with each other. */
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
  /** A person took back what waited for its turn. */
  | 'cancelled'

/** Where an event waits that has not started, and as what. */
export interface Waiter {
  readonly event: CandidateEvent
  readonly place: WaitingPlace
}

/** Where an event waits that has not started. */
export type WaitingPlace =
  | { readonly kind: 'held' }
  | { readonly kind: 'window'; readonly key: string }
  | { readonly kind: 'line'; readonly key: string }

/** `cancel` lets the run clean up and the next one waits for that; `terminate` does not. */
export type StopMode = 'cancel' | 'terminate'

type At = { readonly at: Instant }

export type GateFact =
  /** Of a gate that is a book of actual starts. */
  | StartFact
  | (At & { readonly type: 'gate.opened'; readonly cursor: number })
  /** From now on it hears events of these types, of each those after a sequence. */
  | (At & { readonly type: 'gate.listened'; readonly types: readonly HeardType[] })
  /** Every event up to `cursor` has been looked at, and of the later ones those in `beyond`. */
  | (At & { readonly type: 'gate.read'; readonly cursor: number; readonly beyond: readonly number[] })
  /** Of a gate that is a shared budget: somebody has taken a turn. */
  | (At & { readonly type: 'gate.turned'; readonly turn: Turn })
  /** So many runs were asked for by name so far; the facts that follow say what became of this one. */
  | (At & { readonly type: 'gate.asked'; readonly number: number })
  | (At & {
      readonly type: 'trigger.suppressed'
      readonly sequence: number
      readonly reason: SuppressReason
      readonly detail: string
      /** The run that this event went into, or that stood in its way. */
      readonly into: RunId | null
      readonly retryAt: Instant | null
      /** The idempotency key of the event; free again if this event held it. */
      readonly key: string | null
      /** The run that it was bound for, where that is not the one that bears its own id. */
      readonly promised?: RunId
      /** It was asked for by name: its run is born and ended in one, so that whoever asked finds out. */
      readonly call?: Call
    })
  | (At & { readonly type: 'gate.held'; readonly arrival: Arrival; readonly claim: Claim | null })
  /** So many of the held ones, oldest first, go on with their keys; the facts that follow say where. */
  | (At & { readonly type: 'gate.released'; readonly count: number })
  /** One more counts against the rate limit. */
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
  /** A leading burst began or goes on. */
  | (At & {
      readonly type: 'gate.burst_extended'
      readonly key: string
      readonly run: RunId
      readonly openedAt: Instant
      readonly endsAt: Instant
    })
  /** Waits for the end of another run; `displaces` so many of those that waited before. */
  | (At & {
      readonly type: 'gate.buffered'
      readonly candidate: Candidate
      readonly displaces: number
      readonly claim: Claim | null
    })
  /** The first that waited in this line goes; the next fact says where. */
  | (At & { readonly type: 'gate.called'; readonly line: string })
  /** A run begins to exist. It may be claimed from `notBefore` on. */
  | (At & {
      readonly type: 'gate.started'
      readonly run: RunId
      readonly events: readonly number[]
      readonly how: Candidate['how']
      readonly notBefore: Instant | null
      readonly priority: number
      /** The gate wants to hear of its end: it is the run's parent. */
      readonly tracked: boolean
      /** The overlap key, if runs of the same key may not overlap. */
      readonly line: string | null
      readonly turn: Turn | null
      /** A turn of a shared budget: it is recorded there, with this. */
      readonly sharedTurn?: Turn
      readonly keys: readonly string[]
      readonly claim: Claim | null
      readonly call?: Call
      /** From the second on: these events have their place already, and failed there. */
      readonly attempt?: number
      readonly trigger?: string
      /** What its start costs; absent: 1. */
      readonly cost?: number
    })
  /** An event that waited gives way to a newer one with the same key. */
  | (At & { readonly type: 'gate.withdrawn'; readonly sequence: number; readonly place: WaitingPlace })
  /** `by` waits for the end of this run, which has the key that it asked with. */
  | (At & { readonly type: 'gate.followed'; readonly run: RunId; readonly by: RunId })
  /** That run is over: `by` is told. */
  | (At & { readonly type: 'gate.unfollowed'; readonly run: RunId; readonly by: RunId })
  | (At & { readonly type: 'gate.cancel_wanted'; readonly run: RunId; readonly mode: StopMode })
  /** `keepMs`: for how long after their claim its keys are kept; null: they are free. */
  | (At & {
      readonly type: 'gate.run_ended'
      readonly run: RunId
      readonly status: RunStatus
      readonly keepMs: number | null
      /** Of a batch some of whose events have failed: what becomes of their keys, whatever becomes of the others. */
      readonly items?: EndedKeys
    })
  | (At & { readonly type: 'gate.paused'; readonly by: string })
  | (At & { readonly type: 'gate.resumed'; readonly by: string })
  /** The whole state: facts before this one need not be read. */
  | (At & { readonly type: 'gate.checkpointed'; readonly state: OpenGate })
  /**
   * The claims of these keys have their documents from now on (kept-claims.ts), and the state has them no more. Right after each checkpoint, so
   * that a program which knows no documents meets it and stops. `swept`: up to where the documents were looked at for expired ones.
   */
  | (At & { readonly type: 'gate.keys_kept'; readonly keys: readonly string[]; readonly swept?: string })

export type GateFactType = GateFact['type']

type Now = { readonly now: Instant }
/** `runOf` names the run that an event would begin: the same answer from everyone, always. */
export type Ruled = Now & {
  readonly policies: FlowPolicies
  /** Of triggers with options of their own: those, and the handler's for the rest. */
  readonly ofTriggers?: ReadonlyMap<string, FlowPolicies>
  readonly runOf: (sequence: number) => RunId
  /** What is taken of the budget that the throttle shares, if it does. */
  readonly shared?: ThrottleState
}

export type GateCommand =
  | (Now & { readonly type: 'open_gate'; readonly cursor: number })
  /** What the handler's triggers name now. `position`: the last event so far; later ones of a new type are heard, of an old one no more. */
  | (Now & { readonly type: 'listen'; readonly types: readonly string[]; readonly position: number })
  /**
   * Events in ledger order. `cursor`: nothing up to it will ever be new. An arrival at or below the gate's cursor, or told
   * before, is ignored: where a store commits out of order, give a cursor that lags and tell the tail again.
   */
  | (Ruled & {
      readonly type: 'arrive'
      readonly arrivals: readonly Arrival[]
      readonly refused: readonly RefusedEvent[]
      readonly cursor: number
    })
  /** A run is asked for by name. `problem`: a rule that could not be worked out. */
  | (Ruled & {
      readonly type: 'call'
      readonly arrival: Omit<Arrival, 'sequence'> & { readonly call: Call }
      readonly problem: string | null
    })
  /** Takes back a call that waits: its run ends as it is born. Refused if no call with this run waits. */
  | (Now & { readonly type: 'withdraw_call'; readonly run: RunId; readonly by: string; readonly detail: string })
  /** Drops a call that waits, because its run exists. Nothing, if no call with this run waits. */
  | (Now & { readonly type: 'forget_call'; readonly run: RunId })
  /** `by` was given this run for its call and waits for its end. */
  | (Now & { readonly type: 'follow'; readonly run: RunId; readonly by: RunId })
  /** What is due goes on; at most a few hundred at a time, so ask gateWakeAt again. */
  | (Ruled & { readonly type: 'pass_time' })
  | (Ruled & {
      readonly type: 'end_runs'
      readonly ended: readonly EndedRun[]
    })
  /** To a gate that is a shared budget. */
  | (Now & { readonly type: 'take_turns'; readonly turns: readonly Turn[] })
  /** To a gate that is a book of actual starts. */
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
  /** Events of a batch that have failed in it, and the run that they would come again in. */
  readonly failed?: { readonly arrivals: readonly Arrival[]; readonly next: RunId; readonly roll: number }
}

/** A run whose end matters to the gate. */
export interface TrackedRun {
  readonly keys: readonly string[]
  readonly line: string | null
  readonly how: Candidate['how']
  readonly attempt?: number
  readonly trigger?: string
  /** Which life of the run it minds; absent: the first. */
  readonly life?: number
  /** The gate wants it gone: whoever holds the gate sees to it, again after a crash. */
  readonly stop: StopMode | null
}

export interface HeldArrival {
  readonly arrival: Arrival
  readonly claim: Claim | null
}

/** An event type that a gate hears: events after one sequence, and up to another if the handler no longer listens to it. */
export interface HeardType {
  readonly type: string
  readonly after: number
  readonly until: number | null
}

export interface OpenGate {
  readonly kind: 'open'
  readonly types: readonly HeardType[]
  readonly cursor: number
  readonly beyond: readonly number[]
  /** Runs asked for by name. */
  readonly calls: number
  readonly pausedBy: string | null
  /** In the order they came. After a resume they go on, and until all have gone, newcomers stand behind them. */
  readonly held: readonly HeldArrival[]
  readonly claims: Claims
  /** How many keys were kept since documents were last looked at for expired ones, and up to where that was. */
  readonly sweep?: { readonly since: number; readonly after: string }
  readonly rates: RateState
  readonly windows: Windows
  readonly bursts: Bursts
  readonly lines: Lines
  readonly throttles: ThrottleState
  /** Of a book of actual starts; absent: of none. */
  readonly starts?: Starts
  readonly runs: DueMap<TrackedRun>
  /** Runs that wait for the end of a run of this gate. Absent: none ever did. */
  readonly followers?: readonly { readonly run: RunId; readonly by: RunId }[]
}

export type GateState = { readonly kind: 'none' } | OpenGate
