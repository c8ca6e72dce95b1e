/**
 * Copies a live run with some members changed.
 *
 * Every live run gets the same members in the same order: each step makes one and reads it a dozen times, and code that meets
 * one hidden class reads it several times faster than a copy made by spreading.
 */
import type { LiveRun } from './fact.ts'

export const changed = (run: LiveRun, change: Partial<LiveRun>): LiveRun => ({
  kind: 'live',
  start: change.start ?? run.start,
  startedAt: run.startedAt,
  retried: change.retried ?? run.retried,
  failures: change.failures ?? run.failures,
  retryAt: change.retryAt === undefined ? run.retryAt : change.retryAt,
  hasTold: change.hasTold ?? run.hasTold,
  version: change.version ?? run.version,
  cancel: change.cancel === undefined ? run.cancel : change.cancel,
  pause: change.pause === undefined ? run.pause : change.pause,
  tasks: change.tasks ?? run.tasks,
  recalls: change.recalls ?? run.recalls,
  open: change.open ?? run.open,
  settled: change.settled ?? run.settled,
  frozen: change.frozen ?? run.frozen,
  consumed: change.consumed ?? run.consumed,
})
