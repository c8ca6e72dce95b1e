/**
 * Wakes a run or a coordinator. It may lose, repeat or reorder wakes: `wakeAt` in the ledger is the truth and the worker's sweep re-issues
 * them.
 *
 * dispatcher-1  A wake is a hint that this run (or coordinator) is worth claiming at that instant; it carries no data and no promise.
 * dispatcher-2  `start` and `stop` are safe to call twice, and `stop` before `start`. After `stop` resolves the handler is never called.
 */
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from './clock.ts'

export interface Dispatcher {
  wake(run: ClaimableId, at: Instant): void
  start(handler: (run: ClaimableId) => void): Promise<void>
  stop(): Promise<void>
}

/** An HTTP endpoint that an outside engine calls to deliver wakes; the HTTP server mounts it. It authenticates its caller itself. */
export interface DispatcherEndpoint {
  readonly path: string
  /** Reports a problem in the outside engine's own format; never throws. */
  answer(request: Request): Promise<Response>
}

export interface OpenedDispatcher {
  readonly dispatcher: Dispatcher
  /** Null: the dispatcher has a port of its own, or none. */
  readonly endpoint: DispatcherEndpoint | null
  /** Returns the reason why wakes do not arrive, in words; null: no problem is known. Answers within seconds. */
  check(): Promise<string | null>
}

/**
 * Makes a dispatcher that lives outside of the process and the store; a configuration names this factory. Such a dispatcher keeps instants
 * too, so workers give it the instant when a run that they park falls due. Opens nothing that `start` should open.
 */
export type DispatcherFactory = (clock: Clock) => Promise<OpenedDispatcher>
