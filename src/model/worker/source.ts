/**
 * Which workers take a handler, and its circuit breaker, as an author writes them.
 *
 * Owns only the options. manifest/define/placement.ts and manifest/flow/circuit.ts make the normal form, with defaults and refusals.
 */
import type { PinMode } from './pin.ts'

type Duration = string | number

/** Which workers may take the runs of a handler: `{ pool: 'gpu', placement: { require: { region: 'eu' } } }`. */
export interface PlacementSource {
  /** Only workers of this pool take its runs. Default: any worker. */
  readonly pool?: string
  /**
   * Which version of the code continues a run: its own while a worker of that version lives (`soft`), only its own (`hard`), any
   * (`none`). Default: `soft`.
   */
  readonly pin?: PinMode
  /** With `soft`: another version takes a run that has been due for this long, a duration. Default: `10m`. */
  readonly pinFor?: Duration
  /** The module it belongs to, which limits what its code may do. Default: none, which limits nothing. */
  readonly module?: string
  /** Labels of workers. Default: every worker of the pool will do. */
  readonly placement?: {
    /** Labels that a worker must have: `{ region: 'eu' }`, or a list of accepted values. Default: none. */
    readonly require?: Readonly<Record<string, string | readonly string[]>>
    /** Preferred labels of a worker: `{ label: 'disk=fast', weight: 3 }`. Other workers may claim after 1 s. Default weight: 1. */
    readonly prefer?: readonly { readonly label: string; readonly weight?: number }[]
    /** True: a run prefers the worker that had it last, while that worker lives. Default: false. */
    readonly sticky?: boolean
  }
}

/** Holds back a handler's steps while what they call keeps failing: `{ key: 'stripe', openFor: '1m' }`. */
export interface CircuitSource {
  /**
   * Names what is called: functions with the same key share the breaker. An expression over `event` and `payload`, `{ expr: 'payload.shop' }`,
   * gives each value its own breaker. Default: the function's name.
   */
  readonly key?: string | { readonly expr: string }
  /** How many of the latest calls count, 1 to 1,000. Default: 20. */
  readonly window?: number
  /** The breaker opens only after at least this many calls. Default: 10. */
  readonly minCalls?: number
  /** The share of failed calls that opens it, above 0 and at most 1. Default: 0.5. */
  readonly failureRate?: number
  /** How long it stays open before one call may try again, a duration. Default: `30s`. */
  readonly openFor?: Duration
  /** The error codes that count as failures. Default: every failure that can be retried. */
  readonly codes?: readonly string[]
  /**
   * While it is open: `wait` parks the run without using an attempt, `fail` fails the step with CIRCUIT_OPEN, `fallback` performs the step's
   * own fallback, and fails the step where it has none. Default: `wait`.
   */
  readonly whenOpen?: 'wait' | 'fail' | 'fallback'
}
