/**
 * Whether a serving or working process is ready, from what was seen of it: each check is `ok` or a code, each failure has a sentence.
 *
 * Owns the limits. Ready means progress: the ledger is read and written, and what is due is taken. Asks nothing itself.
 *
 * readiness-1  Every check is judged from the present alone: what heals is green again without a restart.
 * readiness-2  Runs that no living worker has the handler for are told, and do not make a process unready: it serves everything else, and a
 *              deploy that takes it away would not bring the handler back.
 */

/** The ledger was not written for so long: it does not answer. */
const SILENT_AFTER_MS = 10_000
/** A run that is due for so long, while a worker that fits has a free slot, is not being taken. */
const OVERDUE_AFTER_MS = 30_000
/** 99 of 100 turns of the event loop are later than this. */
const BLOCKED_AFTER_MS = 1_000

export interface Seen {
  /** The code with which the ledger refused to be read; null: it answered. */
  readonly readTrouble: string | null
  /** What the ledger refused last; null: it has taken everything. */
  readonly writeTrouble: { readonly code: string; readonly detail: string } | null
  /** Since the last write that the ledger took; null: none was tried yet. */
  readonly sinceWriteMs: number | null
  /** Workers that live, and how many of them take runs. Null: they could not be counted. */
  readonly workers: { readonly living: number; readonly taking: number } | null
  /** Everything was stopped by a person: then no progress is expected. */
  readonly isStopped: boolean
  /** The handler whose run has been due longest although a worker could take it. Null: there is none. */
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
    return { code: 'LEDGER_UNAVAILABLE', reason: `the ledger has taken no write for ${seconds(sinceWriteMs)}` }
  },
  workers: ({ workers, isStopped }) => {
    if (workers === null || isStopped || workers.taking > 0) return null
    return workers.living === 0
      ? { code: 'NO_WORKER', reason: 'no worker lives: runs wait until one starts' }
      : { code: 'NO_WORKER', reason: `none of ${workers.living} workers takes runs: paused or leaving` }
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
      : { code: 'LOOP_BLOCKED', reason: `turns of the event loop are ${seconds(loopDelayMs)} late` },
}

/** readiness-2. */
const TOLD_ONLY: ReadonlySet<string> = new Set(['handlers'])

export const readinessOf = (seen: Seen): Readiness => {
  const judged = Object.entries(JUDGES).map(([name, judge]) => ({ name, failure: judge(seen) }))
  return {
    isReady: judged.every(({ name, failure }) => failure === null || TOLD_ONLY.has(name)),
    checks: Object.fromEntries(judged.map(({ name, failure }) => [name, failure?.code ?? 'ok'])),
    reasons: judged.flatMap(({ failure }) => (failure === null ? [] : [failure.reason])),
  }
}
