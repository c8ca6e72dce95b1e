/**
 * A session in a thread of its own: the engine goes on while SQLite writes.
 *
 * Owns the start of the thread, the pending calls and their results. The thread's side is serve.ts.
 *
 * thread-1  Calls are done one after the other, in the order they were made.
 * thread-2  If the thread dies, all pending calls are rejected at once, with an unknown outcome.
 */
import { existsSync } from 'node:fs'
import { type MessagePort, Worker } from 'node:worker_threads'
import type { LedgerSession } from '#adapters/storage/sqlite/session.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Append, Outcome } from '#ports/ledger.ts'
import { type PackedOutcomes, packBatch, unpackOutcomes } from './packed.ts'
import { type PackedClaims, unpackClaims } from './packed-claims.ts'
import type { Answer, Call, ServeOptions } from './serve.ts'

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: TrihandError) => void
}

export class ThreadSession implements LedgerSession {
  /** A thread, or in tests one end of a channel. */
  readonly #channel: Worker | MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #calls = 0
  #death: string | null = null
  #tellEnded: () => void = () => {}
  /** True once a call has failed: then the thread may have a state of recovery that no other session knows. */
  hasFailed = false

  constructor(channel: Worker | MessagePort) {
    this.#channel = channel
    channel.on('message', (answer: Answer) => this.#settle(answer))
    channel.unref()
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0
  }

  get isDead(): boolean {
    return this.#death !== null
  }

  append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    return this.#ask<PackedOutcomes>('append', packBatch(batch)).then(unpackOutcomes)
  }

  readonly load: LedgerSession['load'] = (...values) => this.#ask('load', ...values)
  readonly events: LedgerSession['events'] = (query) => this.#ask('events', query)
  readonly claim: LedgerSession['claim'] = (request) => this.#ask<PackedClaims>('claim', request).then(unpackClaims)
  readonly beat: LedgerSession['beat'] = (request) => this.#ask('beat', request)
  readonly retire: LedgerSession['retire'] = (...values) => this.#ask('retire', ...values)
  readonly put: LedgerSession['put'] = (...values) => this.#ask('put', ...values)
  readonly get: LedgerSession['get'] = (hash) => this.#ask('get', hash)
  readonly forget: LedgerSession['forget'] = () => this.#ask('forget')

  /** Resolves when the thread has ended. */
  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#tellEnded = resolve
    })
    await this.#ask('close')
    this.#channel.ref()
    await ended
  }

  /** thread-2 */
  die(reason: string): void {
    this.#death ??= reason
    this.#tellEnded()
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(new TrihandError('LEDGER_UNAVAILABLE', reason, { outcome: 'unknown' }))
  }

  #ask<Value>(name: Call['name'], ...values: readonly unknown[]): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#death !== null) return reject(new TrihandError('LEDGER_UNAVAILABLE', this.#death))
      const call: Call = { id: this.#calls++, name, values }
      this.#channel.postMessage(call)
      if (this.isIdle) this.#channel.ref()
      this.#waiting.set(call.id, { resolve, reject })
    })
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (waiting === undefined) return
    this.#waiting.delete(answer.id)
    if (this.isIdle) this.#channel.unref()
    if ('value' in answer) return waiting.resolve(answer.value as never)
    this.hasFailed = true
    const { code, detail, outcome } = answer.error
    waiting.reject(new TrihandError(code, detail, { outcome }))
  }
}

/** Located beside this module, both compiled and in our bundle; a program that was bundled again has no such file. */
const ENTRY = new URL('./sqlite-thread.js', import.meta.url)

/** Resolves when the thread has opened the file; rejects if it cannot. */
export const startThread = (options: ServeOptions): Promise<ThreadSession> =>
  new Promise((resolve, reject) => {
    if (!existsSync(ENTRY)) throw new TrihandError('LEDGER_UNAVAILABLE', `there is no ${ENTRY.href}`)
    const worker = new Worker(ENTRY, { workerData: options })
    const session = new ThreadSession(worker)
    const die = (reason: string): void => {
      session.die(reason)
      reject(new TrihandError('LEDGER_UNAVAILABLE', reason))
    }
    worker.on('error', (error: unknown) => die(`the thread of SQLite failed: ${String(error)}`))
    worker.on('exit', () => die('the thread of SQLite has ended'))
    session.forget().then(() => resolve(session), reject)
  })
