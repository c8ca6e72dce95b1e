/**
 * The statuses of a run.
 *
 * Owns their names and which of them are final. Never decides when they change (run.ts).
 */
export const RUN_STATUSES = [
  'queued',
  'running',
  'waiting',
  'paused',
  'cancelling',
  'success',
  'partial',
  'failed',
  'cancelled',
  'expired',
  'quarantined',
  /** A session's stream, which is never claimed. */
  'session',
] as const

/** The status of a run: `success`, `partial`, `failed`, `cancelled`, `expired` and `quarantined` are final. */
export type RunStatus = (typeof RUN_STATUSES)[number]

const ENDED: ReadonlySet<RunStatus> = new Set(['success', 'partial', 'failed', 'cancelled', 'expired', 'quarantined'])

const FAILURES: ReadonlySet<RunStatus> = new Set(['failed', 'expired', 'quarantined'])

export const isFailure = (status: RunStatus): boolean => FAILURES.has(status)
export const isEnded = (status: RunStatus): boolean => ENDED.has(status)

/** The statuses of runs that have not ended. */
export const OPEN_STATUSES = RUN_STATUSES.filter((status) => !isEnded(status) && status !== 'session')
