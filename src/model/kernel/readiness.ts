/**
 * Judges from observations whether a serving or working process is ready: each check is `ok` or a code, each failure has a sentence.
 *
 * Owns the limits. Ready means progress: the ledger is read and written, and due runs are claimed. Pure: the observations are an argument.
 *
 * readiness-1  Every check is judged from the present alone: after a recovery it is `ok` again without a restart.
 * readiness-2  Runs that no living worker has the handler for are reported and do not make a process unready: it serves everything else, and a
 *              deploy that takes it away would not bring the handler back.
 */

/** No write to the ledger for this long means that it does not answer. */
const SILENT_AFTER_MS = 10_000
/** A run that has been due for this long, while a fitting worker has a free slot, is not being claimed. */
const OVERDUE_AFTER_MS = 30_000
/** The limit for the 99th percentile of how late turns of the event loop are. */
const BLOCKED_AFTER_MS = 1_000

export interface Seen {
  /** The error code of the last read of the ledger; null: it answered. */
  readonly readTrouble: string | null
  /** The last refusal of a write by the ledger; null: it has accepted every write. */
  readonly writeTrouble: { readonly code: string; readonly detail: string } | null
  /** Time since the last write that the ledger accepted; null: none was tried yet. */
  readonly sinceWriteMs: number | null
  /** How many workers are alive, and how many of them claim runs. Null: they could not be counted. */
  readonly workers: { readonly living: number; readonly taking: number } | null
  /** A person stopped everything: no progress is expected then. */
  readonly isStopped: boolean
  /** The handler whose run has been due longest although a worker could claim it. Null: there is none. */
  readonly overdue: { readonly handler: string; readonly ms: number } | null
  /** Runs that are due and that no living worker has the handler or the version for. Null: there is none. */
  readonly unhandled: { readonly count: number; readonly reason: string } | null
  /** Why the dispatcher does not wake runs; null: it does. */
  readonly dispatcherTrouble: string | null
  /** The 99th percentile of how late turns of the event loop were. */
  readonly loopDelayMs: number
}

export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, string>>
  /** One sentence for each check that is not `ok`. */
  readonly reasons: readonly string[]
}

interface Failure {
  readonly code: string
  readonly reason: string
}

type Judge = (seen: Seen) => Failure | null

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

const JUDGES: Readonly<Record<string, Judge>> = {
  ledger: ({ readTrouble }) =>
    readTrouble === null ? null : { code: readTrouble, reason: 'the ledger cannot be read' },
  writes: ({ writeTrouble, sinceWriteMs }) => {
    if (writeTrouble !== null)
      return { code: writeTrouble.code, reason: `the ledger refuses writes: ${writeTrouble.detail}` }
    if (sinceWriteMs === null || sinceWriteMs < SILENT_AFTER_MS) return null
    return { code: 'LEDGER_UNAVAILABLE', reason: `the ledger has stored nothing for ${seconds(sinceWriteMs)}` }
  },
  workers: ({ workers, isStopped }) => {
    if (workers === null || isStopped || workers.taking > 0) return null
    return workers.living === 0
      ? { code: 'NO_WORKER', reason: 'no worker is running: runs wait until one starts' }
      : { code: 'NO_WORKER', reason: `none of ${workers.living} workers takes runs: they are paused or stopping` }
  },
  progress: ({ overdue, isStopped }) =>
    overdue === null || isStopped || overdue.ms < OVERDUE_AFTER_MS
      ? null
      : {
          code: 'NO_PROGRESS',
          reason: `a run of ${overdue.handler} has been due for ${seconds(overdue.ms)} while slots are free`,
        },
  handlers: ({ unhandled }) =>
    unhandled === null
      ? null
      : { code: 'NO_HANDLER', reason: `${unhandled.count} due runs wait, the first for ${unhandled.reason}` },
  dispatcher: ({ dispatcherTrouble }) =>
    dispatcherTrouble === null
      ? null
      : { code: 'DISPATCHER_DOWN', reason: `the dispatcher does not answer: ${dispatcherTrouble}` },
  loop: ({ loopDelayMs }) =>
    loopDelayMs < BLOCKED_AFTER_MS
      ? null
      : { code: 'LOOP_BLOCKED', reason: `the event loop is ${seconds(loopDelayMs)} late` },
}

/** Checks that are reported without making the process unready (readiness-2). */
const TOLD_ONLY: ReadonlySet<string> = new Set(['handlers'])

export const readinessOf = (seen: Seen): Readiness => {
  const judged = Object.entries(JUDGES).map(([name, judge]) => ({ name, failure: judge(seen) }))
  return {
    isReady: judged.every(({ name, failure }) => failure === null || TOLD_ONLY.has(name)),
    checks: Object.fromEntries(judged.map(({ name, failure }) => [name, failure?.code ?? 'ok'])),
    reasons: judged.flatMap(({ failure }) => (failure === null ? [] : [failure.reason])),
  }
}
