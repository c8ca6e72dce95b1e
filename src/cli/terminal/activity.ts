/**
 * The activity of runs while a server runs: one line per fact, or one document with `--json`.
 *
 * Owns the limit: beyond 50 lines in a second the rest is summed up, so that printing does not slow down a busy system.
 */
import type { RunNotice } from '#engine/core/publish.ts'
import { shortId } from '#http/server/run-id.ts'
import { describeFact } from '#http/wire/fact-text.ts'
import { isoTime } from '#http/wire/time.ts'
import type { RunFact } from '#model/run/fact.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'
import { type Output, visible } from './output.ts'

const LINES_PER_SECOND = 50
const SECOND_MS = 1_000
const CLOCK_FROM = 11
const CLOCK_TO = 23

export class Activity {
  readonly #output: Output
  #left = LINES_PER_SECOND
  #untold = 0
  readonly #timer: NodeJS.Timeout

  constructor(output: Output) {
    this.#output = output
    this.#timer = setInterval(() => this.#refill(), SECOND_MS)
    this.#timer.unref()
  }

  hear(notice: RunNotice): void {
    for (const fact of notice.facts) this.#hearFact(notice, fact)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#refill()
  }

  #hearFact(notice: RunNotice, fact: RunFact): void {
    if (this.#left === 0) {
      this.#untold += 1
      return
    }
    this.#left -= 1
    const step = 'step' in fact ? fact.step : null
    if (this.#output.isJson)
      this.#print({
        type: 'fact',
        at: isoTime(fact.at),
        run_id: notice.run,
        handler: notice.handler,
        status: notice.status,
        fact: fact.type,
        step,
        text: describeFact(fact),
      })
    else this.#output.line(this.#lineOf(notice, fact, step))
  }

  #lineOf({ run, handler, status }: RunNotice, fact: RunFact, step: string | null): string {
    const { colors } = this.#output
    const text = visible(step === null ? describeFact(fact) : `${step}: ${describeFact(fact)}`)
    const clock = isoTime(fact.at).slice(CLOCK_FROM, CLOCK_TO)
    return `${colors.dim(clock)}  ${shortId(run)}  ${visible(handler)}  ${this.#painted(status, fact, text)}`
  }

  #painted(status: RunStatus, fact: RunFact, text: string): string {
    const { colors } = this.#output
    if (!fact.type.startsWith('run.') || !isEnded(status)) return text
    return status === 'success' ? colors.green(text) : colors.red(text)
  }

  #refill(): void {
    if (this.#untold > 0 && this.#output.isJson) this.#print({ type: 'untold', facts: this.#untold })
    else if (this.#untold > 0) this.#output.line(`… and ${this.#untold} more facts`)
    this.#left = LINES_PER_SECOND
    this.#untold = 0
  }

  #print(document: unknown): void {
    this.#output.document(document, { isStream: true })
  }
}
