/**
 * Validates the text of a manifest for a caller, away from the event loop: a text of 256 KiB takes seconds.
 *
 * Owns where a text is validated (a short text here, any other in a thread that ends with its result) and how many callers may wait for the
 * thread.
 *
 * validation-1  A text of more than 2 KiB never blocks the event loop: one thread at a time validates one text.
 * validation-2  A text that needs too much time or memory is refused, and the next caller gets a new thread.
 */
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ManifestText } from './manifest-verdict.ts'

/** A text of this length is validated in about 20 ms: less than a thread takes to start. */
const SHORT = 2048
const HEAP_MB = 256
const MOST_MS = 20_000
const MOST_WAITING = 16

/** The file exists beside this module in a bundled build (scripts/lib/bundle.mjs), but not when the sources run directly. */
const ENTRY = new URL('./manifest-thread.js', import.meta.url)

const here = async (given: ManifestText): Promise<string> => (await import('./manifest-verdict.ts')).verdictOf(given)

interface Thread {
  readonly entry: URL
  readonly mostMs: number
}

const inThread = ({ entry, mostMs }: Thread, given: ManifestText): Promise<string> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(entry, {
      workerData: given,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      stdout: true,
      stderr: true,
      env: {},
    })
    const settle = (end: () => void): void => {
      clearTimeout(timer)
      end()
      void worker.terminate()
    }
    const give = (why: string): void =>
      settle(() => reject(new TrihandError('INPUT_INVALID', `the manifest cannot be validated: ${why}`)))
    const timer = setTimeout(() => give(`it takes longer than ${mostMs} ms`), mostMs)
    worker.once('message', (verdict: string) => settle(() => resolve(verdict)))
    worker.once('error', (error) => give(error.message))
    worker.once('exit', () => give('its thread ended without an answer'))
  })

export class Validation {
  readonly #thread: Thread
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor({ entry = ENTRY, mostMs = MOST_MS }: Partial<Thread> = {}) {
    this.#thread = { entry, mostMs }
  }

  /** Returns the validation document, as JSON text. */
  async judge(given: ManifestText): Promise<string> {
    if (given.text.length <= SHORT || !existsSync(this.#thread.entry)) return here(given)
    if (this.#waiting >= MOST_WAITING)
      throw new TrihandError('OVERLOADED', `${this.#waiting} manifests wait to be validated`)
    this.#waiting++
    const verdict = this.#last.then(() => inThread(this.#thread, given))
    this.#last = verdict.catch(() => {})
    return verdict.finally(() => {
      this.#waiting--
    })
  }
}
