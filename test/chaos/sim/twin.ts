/**
 * Two ledgers at once: what the engine asks is answered by the one under test, and the memory store follows it call by call.
 *
 * Owns the comparison. So the judges of the simulator, who read the memory store, judge a real store as well, and every answer in
 * which the two differ is a finding.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Ledger, Outcome } from '#ports/ledger.ts'

export type Differences = (sentence: string) => void

const text = (value: unknown): string => canonical((value ?? null) as Json)

/** What both must agree on: who was written, who met which conflict, and where events stand. */
const essence = (outcome: Outcome): unknown => {
  if (outcome.kind !== 'conflict') return { kind: outcome.kind, sequences: outcome.sequences }
  const { kind, reason } = outcome
  return reason === 'taken'
    ? { kind, reason, sequence: outcome.sequence, runs: outcome.runs }
    : { kind, reason, version: outcome.version }
}

export const twin = (memory: Ledger, tested: Ledger, differ: Differences): Ledger => {
  const both = async <T>(
    name: string,
    ask: (ledger: Ledger) => Promise<T>,
    seen: (answer: T) => unknown = (answer) => answer,
  ): Promise<T> => {
    const [expected, given] = await Promise.all([ask(memory), ask(tested)])
    const [left, right] = [text(seen(expected)), text(seen(given))]
    if (left !== right) differ(`${name} gives ${right} where memory gives ${left}`)
    return given
  }
  return {
    append: (batch) =>
      both(
        'append',
        (ledger) => ledger.append(batch),
        (outcomes) => outcomes.map(essence),
      ),
    load: (streams, options) => both('load', (ledger) => ledger.load(streams, options)),
    events: (query) => both('events', (ledger) => ledger.events(query)),
    // What a store brings along with a claim is its own choice; that it is right, the ledger's suite says.
    claim: (request) =>
      both(
        'claim',
        (ledger) => ledger.claim(request),
        ({ claims, nextDueAt }) => ({ claims, nextDueAt }),
      ),
    beat: (request) => both('beat', (ledger) => ledger.beat(request)),
    retire: (worker, now) => both('retire', (ledger) => ledger.retire(worker, now)),
    close: () => Promise.resolve(),
  }
}
