/**
 * The log of a serving or working process: one JSON line on stderr per event, by level. Off unless TRIHAND_LOG sets a level.
 *
 * Owns the levels, the format of a line, and the mapping of events to lines. Never writes the data of an event, a step or a task.
 *
 * log-1  Every retry and every loss is logged at `warn` or above: of the ledger, of a step, of a run, of a lease.
 */
import type { Trihand } from '#compose/assemble.ts'
import type { Written } from '#engine/core/observers.ts'
import { isoTime } from '#http/wire/time.ts'
import { type Failure, TrihandError } from '#model/kernel/errors.ts'
import type { Readiness } from '#model/kernel/readiness.ts'
import type { RunFact } from '#model/run/fact.ts'
import { LOG_LEVELS, type LogLevel } from './log-level.ts'
import { jsonText } from './output.ts'
import type { Shell } from './shell.ts'

type Said = Exclude<LogLevel, 'off'>
type Fields = Readonly<Record<string, string | number | null>>

export interface Line {
  readonly level: Said
  readonly message: string
  readonly fields: Fields
}

const line = (level: Said, message: string, fields: Fields = {}): Line => ({ level, message, fields })

const failureOf = ({ code, message }: Failure): Fields => ({ code, detail: message })

/** The line for a fact of a run; null: it is not logged. */
const ofFact = (fact: RunFact): Line | null => {
  switch (fact.type) {
    case 'step.retry_scheduled': {
      const { step, attempt, error, wakeAt } = fact
      return line('warn', 'a step will be retried', { step, attempt, next: isoTime(wakeAt), ...failureOf(error) })
    }
    case 'run.retry_scheduled': {
      const { attempt, error, wakeAt } = fact
      return line('warn', 'a run will be retried', { attempt, next: isoTime(wakeAt), ...failureOf(error) })
    }
    case 'step.failed':
      return line('warn', 'a step failed', { step: fact.step, attempt: fact.attempt, ...failureOf(fact.error) })
    case 'step.uncertain':
      return line('error', 'a step may have happened; a person is asked', { step: fact.step, detail: fact.reason })
    case 'step.late_result':
      return line('warn', 'a result came too late and was ignored', { step: fact.step, attempt: fact.attempt })
    case 'run.failed':
      return line('error', 'a run failed', failureOf(fact.error))
    case 'run.quarantined':
      return line('error', 'a run is quarantined', failureOf(fact.error))
    case 'run.expired':
      return line('warn', 'a run passed its deadline and was ended', failureOf(fact.error))
    case 'run.cancelled':
      return line('info', 'a run was cancelled', failureOf(fact.error))
    case 'run.completed':
      return line('info', 'a run completed', { status: fact.status })
    case 'step.completed':
      return line('debug', 'a step completed', { step: fact.step, attempt: fact.attempt })
    default:
      return null
  }
}

const ofOutcomes = ({ appends, outcomes, ms }: Written): readonly Line[] => [
  line('debug', 'the ledger stored a batch', { appends: appends.length, ms }),
  ...outcomes.flatMap((outcome, i): readonly Line[] => {
    const stream = appends[i]?.writes[0]?.stream ?? null
    if (outcome.kind === 'already_written') return [line('info', 'a repeated write was already stored', { stream })]
    if (outcome.kind !== 'conflict' || outcome.reason !== 'epoch') return []
    return [line('warn', 'a lease was lost: the last work of this process on the run is not recorded', { stream })]
  }),
]

const ofError = (error: unknown): Fields =>
  error instanceof TrihandError
    ? { code: error.code, detail: error.detail }
    : { code: 'INTERNAL', detail: String(error) }

/** Refusals by our own limits are logged as warnings; other errors of callers are not. */
const PUSHED_BACK = 429
const OURS = 500

/** At the level of TRIHAND_LOG; secrets that the process knows are removed from every line. */
export const openLog = (
  { output, settings }: Pick<Shell, 'output' | 'settings'>,
  trihand: Pick<Trihand, 'tasks' | 'redact'>,
): Log =>
  new Log(
    settings.log,
    (text) => output.log(trihand.redact(text)),
    () => trihand.tasks.now,
  )

export class Log {
  readonly #most: number
  readonly #write: (text: string) => void
  readonly #now: () => number

  constructor(level: LogLevel, write: (text: string) => void, now: () => number) {
    this.#most = LOG_LEVELS.indexOf(level)
    this.#write = write
    this.#now = now
  }

  get isQuiet(): boolean {
    return this.#most === 0
  }

  add({ level, message, fields }: Line, about: Fields = {}): void {
    if (LOG_LEVELS.indexOf(level) > this.#most) return
    this.#write(jsonText({ time: isoTime(this.#now()), level, message, ...about, ...fields }))
  }

  /** Logs what the process does until the returned function is called. */
  follow(trihand: Pick<Trihand, 'subscribe'>): () => void {
    if (this.isQuiet) return () => {}
    const addAll = (lines: readonly Line[]): void => {
      for (const one of lines) this.add(one)
    }
    return trihand.subscribe('metrics', {
      appended: () => {},
      performed: () => {},
      woke: () => {},
      ranOn: (handler, facts, run) => {
        for (const fact of facts) {
          const said = ofFact(fact)
          if (said !== null) this.add(said, { run, handler })
        }
      },
      wrote: (batch) => addAll(ofOutcomes(batch)),
      refused: (error, appends, kept) => {
        const counts = { appends, sent_again: kept, given_back: appends - kept, outcome: error.outcome }
        this.add(line('warn', 'the ledger refused a batch', { ...ofError(error), ...counts }))
      },
      failed: (call, error) =>
        this.add(line('warn', 'the ledger did not answer a worker', { call, ...ofError(error) })),
      recovered: (leases) => this.add(line('warn', 'runs of a silent worker were released', { leases })),
    })
  }

  answered(route: string, status: number, ms: number): void {
    const level = status >= OURS ? 'error' : status === PUSHED_BACK ? 'warn' : 'debug'
    this.add(line(level, 'a request was answered', { route, status, ms }))
  }

  /** Called when readiness has changed. */
  ready({ isReady, reasons }: Readiness): void {
    if (isReady) this.add(line('info', 'the process is ready'))
    else this.add(line('error', 'the process is not ready', { detail: reasons.join('; ') }))
  }
}
