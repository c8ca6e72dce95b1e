/**
 * A ledger that repeats calls until they are answered: the resend rule of every writer, in one place.
 *
 * Owns which calls may be sent twice. An append may, under its own id (ledger-3); so may reads and heartbeats. A claim may not: if its
 * outcome is unknown, runs may be leased to a worker that does not know of them, and only the worker itself can release them.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Ledger } from '#ports/ledger.ts'
import { pause } from './until.ts'

export interface Trouble {
  readonly call: string
  readonly code: string
  readonly outcome: 'not_done' | 'unknown'
  readonly detail: string
}

const RETRY_MS = 20
/** No fault of a test lasts this long: a call that still fails would fail forever. */
const GIVE_UP_MS = 60_000

/** Repeats a call until it is answered, or fails with an error that a repeat cannot fix. */
export const insist = async <T>(
  call: string,
  attempt: () => Promise<T>,
  report: (trouble: Trouble) => void,
  mayRepeat: (error: TrihandError) => boolean = () => true,
): Promise<T> => {
  const startedAt = performance.now()
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TrihandError)) throw error
      report({ call, code: error.code, outcome: error.outcome, detail: error.detail })
      if (!error.retryable || !mayRepeat(error) || performance.now() - startedAt > GIVE_UP_MS) throw error
      await pause(RETRY_MS)
    }
  }
}

export const insistentLedger = (inner: Ledger, report: (trouble: Trouble) => void): Ledger => ({
  append: (batch) => insist('append', () => inner.append(batch), report),
  load: (streams, options) => insist('load', () => inner.load(streams, options), report),
  events: (query) => insist('events', () => inner.events(query), report),
  claim: (request) =>
    insist(
      'claim',
      () => inner.claim(request),
      report,
      (error) => error.outcome === 'not_done',
    ),
  beat: (request) => insist('beat', () => inner.beat(request), report),
  retire: (worker, now) => insist('retire', () => inner.retire(worker, now), report),
  close: () => inner.close(),
})

export const insistentBlobs = (inner: Blobs, report: (trouble: Trouble) => void): Blobs => ({
  put: (hash, text) => insist('blobs.put', () => inner.put(hash, text), report),
  get: (hash) => insist('blobs.get', () => inner.get(hash), report),
})
