/**
 * What wakes a run or a coordinator. It may lose, repeat or reorder wakes: `wakeAt` in the ledger is the truth and the worker's sweep re-issues.
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

/** What an engine outside calls to deliver wakes, mounted by whoever serves HTTP. Proves by itself who is calling. */
export interface DispatcherEndpoint {
  readonly path: string
  /** Answers a problem in the engine's own words; never throws. */
  answer(request: Request): Promise<Response>
}

export interface OpenedDispatcher {
  readonly dispatcher: Dispatcher
  /** Null: it has a port of its own, or none. */
  readonly endpoint: DispatcherEndpoint | null
  /** Why wakes do not arrive, in words; null: nothing is known to be wrong. Answers within seconds. */
  check(): Promise<string | null>
}

/**
 * How a configuration names a dispatcher that lives outside of the process and the store. It keeps instants too, so workers tell it
 * when a run that they park falls due. Opens nothing that `start` should open.
 */
export type DispatcherFactory = (clock: Clock) => Promise<OpenedDispatcher>
