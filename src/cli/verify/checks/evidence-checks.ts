/**
 * Checks the ledger against evidence from outside: nothing acknowledged is missing, and no effect was performed too often.
 *
 * Compares run by run while the ledger is read. Without evidence there is nothing to compare.
 */
import { type Findings, NOWHERE, type Place } from '#cli/verify/report.ts'
import type { Scratch } from '#cli/verify/scratch.ts'
import { type Effect, type Evidence, EvidenceStore } from '#cli/verify/source/evidence.ts'
import type { Tables } from '#cli/verify/tables.ts'
import { isEnded } from './rest-checks.ts'
import type { RunState } from './run-state.ts'

export class EvidenceChecks {
  readonly #findings: Findings
  readonly #store: EvidenceStore | null

  private constructor(findings: Findings, store: EvidenceStore | null) {
    this.#findings = findings
    this.#store = store
  }

  static async open(findings: Findings, evidence: Evidence | undefined, scratch: Scratch): Promise<EvidenceChecks> {
    if (evidence === undefined) return new EvidenceChecks(findings, null)
    const store = new EvidenceStore(scratch)
    await store.load(evidence)
    const checks = new EvidenceChecks(findings, store)
    checks.#checkSharedKeys(store)
    return checks
  }

  run(run: string, state: RunState): void {
    if (this.#store === null) return
    const place = { stream: run, seq: null }
    const { acks, effects } = this.#store.take(run)
    for (const { kind, what } of acks) {
      if (kind === 'step') this.#checkStepAck(state, what, place)
      else this.#checkRunAck(state, what, place)
    }
    let before: Effect | null = null
    for (const effect of effects) {
      this.#checkEffect(state, effect, before, place)
      before = effect
    }
  }

  async end(tables: Tables): Promise<void> {
    if (this.#store === null) return
    for (const run of this.#store.runsLeft()) {
      this.#findings.expect(
        'V1',
        false,
        { stream: run, seq: null },
        () => 'the run was acknowledged or had an effect, but is not in the ledger',
      )
    }
    for (const { source, id, sequence } of this.#store.events()) {
      const found = await tables.sequences(source, id)
      this.#findings.expect(
        'V1',
        found.length === 1 && found[0] === sequence,
        NOWHERE,
        () =>
          `event ${id} of ${source} was acknowledged as ${sequence}, but the ledger has ${found.length === 0 ? 'none' : found.join(', ')}`,
      )
    }
  }

  #checkStepAck(state: RunState, step: string, place: Place): void {
    this.#findings.expect(
      'V1',
      state.step(step).results > 0,
      place,
      () => `the result of step ${step} was acknowledged but is missing`,
    )
  }

  /** An acknowledged run exists; one that was reported as ended has that end among its facts. */
  #checkRunAck(state: RunState, status: string, place: Place): void {
    this.#findings.expect(
      'V1',
      state.started && (!isEnded(status) || state.ends.has(status)),
      place,
      () => `the run was acknowledged as ${status}, which does not match its facts`,
    )
  }

  #checkEffect(state: RunState, { key, step, effect, times }: Effect, before: Effect | null, place: Place): void {
    const { effectKey, permissions } = state.step(step)
    this.#findings.expect(
      'V11',
      before?.step !== step,
      place,
      () => `step ${step} was performed under two keys, ${before?.key} and ${key}`,
    )
    if (effect !== 'once') return
    this.#findings.expect(
      'V11',
      effectKey === null || effectKey === key,
      place,
      () => `step ${step} was performed under the key ${key}, but was intended under ${effectKey}`,
    )
    // Without a recorded intent the effect would have been unknown after a crash, so none is allowed.
    const allowed = effectKey === null ? 0 : 1 + permissions
    this.#findings.expect(
      'V10',
      times <= allowed,
      place,
      () => `the effect of step ${step} was performed ${times} times, at most ${allowed} are allowed`,
    )
  }

  #checkSharedKeys(store: EvidenceStore): void {
    for (const key of store.sharedKeys())
      this.#findings.expect('V11', false, NOWHERE, () => `two steps were performed under the key ${key}`)
  }
}
