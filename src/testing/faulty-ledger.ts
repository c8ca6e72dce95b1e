/**
 * A ledger that fails where a plan says so: before its work, after it, or by never answering again, as a crashed process does.
 *
 * Owns the faults, not the plan. Every fault keeps the port's promises: what it throws is a TrihandError with a correct outcome.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Append, Ledger, Outcome } from '#ports/ledger.ts'

export type LedgerMethod = keyof Ledger

export type Fault =
  /** Nothing is done, and the error says so. */
  | 'fail_before'
  /** It is done, and the error says that the outcome is unknown. */
  | 'done_then_fail'
  /** Neither this call nor any later one is ever answered. A rejection would run `finally` blocks, which a crash never runs. */
  | 'crash_before'
  | 'crash_after'
  /**
   * The first append that writes to an existing stream fails with a conflict although nothing was written; the rest of the batch is done. Other
   * calls are unaffected.
   */
  | 'conflict'

export interface LedgerCall {
  readonly method: LedgerMethod
  /** How many calls of this method came before. */
  readonly index: number
  /** How many calls of any method came before. */
  readonly total: number
}

export type FaultPlan = (call: LedgerCall) => Fault | null

export interface FaultyLedger extends Ledger {
  /** How often each method was called. */
  readonly calls: Readonly<Record<LedgerMethod, number>>
}

const never = <Answer>(): Promise<Answer> => new Promise(() => {})

const unavailable = (method: LedgerMethod, outcome: 'not_done' | 'unknown'): TrihandError =>
  new TrihandError('LEDGER_UNAVAILABLE', `planned fault in ${method}`, { outcome })

/**
 * Wraps a ledger so that it fails where the plan says: `faultyLedger(ledger, ({ method, index }) => (method === 'append' && index === 2 ?
 * 'fail_before' : null))`.
 */
export const faultyLedger = (inner: Ledger, plan: FaultPlan): FaultyLedger => {
  const calls = { append: 0, load: 0, events: 0, claim: 0, beat: 0, retire: 0, close: 0 }
  let total = 0
  let hasCrashed = false

  const run = async <Answer>(method: LedgerMethod, work: (fault: Fault | null) => Promise<Answer>): Promise<Answer> => {
    if (hasCrashed) return never()
    const fault = plan({ method, index: calls[method]++, total: total++ })
    if (fault === 'fail_before') throw unavailable(method, 'not_done')
    if (fault === 'crash_before' || fault === 'crash_after') hasCrashed = true
    if (fault === 'crash_before') return never()
    const answer = await work(fault)
    if (fault === 'done_then_fail') throw unavailable(method, 'unknown')
    // If another call crashed meanwhile, the answer of this one is lost with it.
    return hasCrashed ? never() : answer
  }

  return {
    calls,
    append: (batch) =>
      run('append', (fault) => (fault === 'conflict' ? refuseFirst(inner, batch) : inner.append(batch))),
    load: (streams, options) => run('load', () => inner.load(streams, options)),
    events: (query) => run('events', () => inner.events(query)),
    claim: (request) => run('claim', () => inner.claim(request)),
    beat: (request) => run('beat', () => inner.beat(request)),
    retire: (worker, now) => run('retire', () => inner.retire(worker, now)),
    close: () => run('close', () => inner.close()),
  }
}

/** Reports the stream's true version and epoch, as if another writer had been there in between. */
const refuseFirst = async (inner: Ledger, batch: readonly Append[]): Promise<readonly Outcome[]> => {
  const loser = batch.findIndex((append) => append.writes.some((write) => write.create === null))
  const stream = batch[loser]?.writes.find((write) => write.create === null)?.stream
  if (stream === undefined) return inner.append(batch)
  const [record] = await inner.load([stream])
  const { version = 0, epoch = 0 } = record ?? {}
  const outcomes = await inner.append(batch.toSpliced(loser, 1))
  return outcomes.toSpliced(loser, 0, { kind: 'conflict', reason: 'version', stream, version, epoch })
}
