/**
 * Checks V7 across two runs: a reused result must be the one in the other run, for the same step.
 *
 * Queried in batches, because the other run is another stream than the one being read.
 */
import { Batch } from '#cli/verify/batch.ts'
import type { Findings, Place } from '#cli/verify/report.ts'
import { type Body, type Fact, readBody, readFact } from '#cli/verify/source/fact.ts'
import type { FoundFact, Tables } from '#cli/verify/tables.ts'

interface Reused {
  readonly tenant: string
  readonly fact: Extract<Fact, { readonly type: 'step.reused' }>
  readonly place: Place
}

const RESULTS: ReadonlySet<string> = new Set([
  'step.completed',
  'step.failed',
  'step.resolved',
  'step.reused',
  'timer.fired',
  'wait.received',
  'wait.timed_out',
  'child.ended',
])

/** The result in a fact, as JSON; null: it has none. */
const resultIn = (type: string, body: Body): string | null => {
  const owner = type === 'child.ended' ? body.body('end') : type === 'step.reused' ? body.body('settled') : body
  return owner.orNull('result', (name) => owner.written(name))
}

export class ReuseChecks {
  readonly #findings: Findings
  readonly #reused: Batch<Reused>

  constructor(findings: Findings, tables: Tables) {
    this.#findings = findings
    this.#reused = new Batch(async (reused) => {
      const found = await tables.factsAt(reused.map(({ fact }) => ({ run: fact.of, seq: fact.seq })))
      for (const one of reused) this.#check(one, found.get(`${one.fact.of}/${one.fact.seq}`))
    })
  }

  add(reused: Reused): void {
    this.#reused.add(reused)
  }

  settle(): Promise<void> {
    return this.#reused.settle()
  }

  end(): Promise<void> {
    return this.#reused.end()
  }

  #check({ tenant, fact, place }: Reused, found: FoundFact | undefined): void {
    const body = found === undefined || found.tenant !== tenant ? null : readBody(found.body)
    const there = found === undefined || body === null ? null : readFact(found.type, body)
    const isResult = there !== null && 'step' in there && there.step === fact.step && RESULTS.has(there.type)
    this.#findings.expect(
      'V7',
      isResult,
      place,
      () => `step ${fact.step} has its result from fact ${fact.seq} of ${fact.of}, which is not a result of this step`,
    )
    if (!isResult || body === null) return
    const result = resultIn(there.type, body)
    this.#findings.expect(
      'V7',
      // A fired timer has no result in its fact.
      result === null || result === fact.result,
      place,
      () => `step ${fact.step} has another result than fact ${fact.seq} of ${fact.of}`,
    )
  }
}
