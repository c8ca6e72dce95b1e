/**
 * Which faults a schedule may meet and how often: a profile drawn from the tape, and the count of those that fired.
 *
 * Owns names and odds. Never makes a fault happen: the ledger, the dispatcher and the cast of workers ask here and do it.
 */
import type { Tape } from './tape.ts'

/** What can happen to one call of the ledger. */
export const CALL_FAULTS = [
  'fails_before',
  'unknown_not_done',
  'done_then_fails',
  'lands_late',
  'slow',
  'disk_full',
  'conflict',
] as const
export type CallFault = (typeof CALL_FAULTS)[number]

/** What can happen between two callbacks. */
export const TURN_FAULTS = [
  'crash',
  'pause',
  'stop',
  'time_jump',
  'clock_skew',
  'new_worker',
  'new_definition',
] as const
export type TurnFault = (typeof TURN_FAULTS)[number]

export const WAKE_FAULTS = ['wake_lost', 'wake_twice', 'wake_late'] as const
export type WakeFault = (typeof WAKE_FAULTS)[number]

/** Counted by the simulator when they happen, never caused on purpose: recovery branches that a campaign must have reached. */
export const SIGHTINGS = [
  'crash_in_flight',
  'fenced',
  'resent',
  'lease_freed',
  'cancel',
  'retry',
  'resolve',
  'repeat',
] as const

export type FaultName = CallFault | TurnFault | WakeFault | (typeof SIGHTINGS)[number]
export const FAULT_NAMES: readonly FaultName[] = [...CALL_FAULTS, ...TURN_FAULTS, ...WAKE_FAULTS, ...SIGHTINGS]

/** Odds in a thousand. */
interface Profile {
  readonly call: number
  readonly turn: number
  readonly wake: number
  readonly turns: readonly TurnFault[]
}

const ORDER_ONLY: readonly TurnFault[] = ['time_jump', 'new_worker']

/** The first has no faults. Few faults let long histories grow; many interact with each other. */
const PROFILES: readonly Profile[] = [
  { call: 0, turn: 0, wake: 0, turns: ORDER_ONLY },
  { call: 0, turn: 20, wake: 100, turns: ORDER_ONLY },
  { call: 60, turn: 5, wake: 50, turns: ORDER_ONLY },
  { call: 0, turn: 25, wake: 50, turns: ['crash', 'pause', 'new_worker', 'time_jump'] },
  { call: 40, turn: 20, wake: 100, turns: TURN_FAULTS },
  { call: 150, turn: 10, wake: 200, turns: TURN_FAULTS },
  { call: 15, turn: 40, wake: 50, turns: TURN_FAULTS },
]

export class Faults {
  readonly fired: Partial<Record<FaultName, number>> = {}
  readonly #tape: Tape
  readonly #profile: Profile

  constructor(tape: Tape) {
    this.#tape = tape
    this.#profile = tape.pick(PROFILES)
  }

  /** A fault for one ledger call among those that it can meet; null for none. */
  forCall(possible: readonly CallFault[]): CallFault | null {
    return this.#tape.odds(this.#profile.call) ? this.count(this.#tape.pick(possible)) : null
  }

  forTurn(): TurnFault | null {
    return this.#tape.odds(this.#profile.turn) ? this.#tape.pick(this.#profile.turns) : null
  }

  forWake(): WakeFault | null {
    return this.#tape.odds(this.#profile.wake) ? this.count(this.#tape.pick(WAKE_FAULTS)) : null
  }

  count<Name extends FaultName>(name: Name): Name {
    this.fired[name] = (this.fired[name] ?? 0) + 1
    return name
  }
}
