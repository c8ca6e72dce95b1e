/**
 * What wakes a run or a clerk. It may lose, repeat or reorder wakes: `wakeAt` in the ledger is the truth and the worker's sweep re-issues.
 *
 * dispatcher-1  A wake is a hint that this run (or clerk) is worth claiming at that instant; it carries no data and no promise.
 * dispatcher-2  `start` and `stop` are safe to call twice, and `stop` before `start`. After `stop` resolves the handler is never called.
 */
import type { ClaimableId, Instant } from '../model/ids.ts'

export interface Dispatcher {
  wake(run: ClaimableId, at: Instant): void
  start(handler: (run: ClaimableId) => void): Promise<void>
  stop(): Promise<void>
}
