/**
 * Two ledgers at once: the engine is answered by the ledger under test, and the memory store follows it call by call.
 *
 * Owns the comparison. So the checks of the simulator, which read the memory store, check a real store as well, and every answer in
 * which the two differ is a finding.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Ledger, Outcome } from '#ports/ledger.ts'

export type Differences = (sentence: string) => void

const text = (value: unknown): string => canonical((value ?? null) as Json)

/** What both must agree on: which appends were written, which met which conflict, and the positions of events. */
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
    // What a store returns along with a claim is its own choice; the ledger's suite checks that it is correct.
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
