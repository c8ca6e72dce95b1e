/**
 * The report of a stage of disaster tests, and what makes it pass.
 *
 * Owns the shape (one entry of `stages` in reliability.json) and the rule for a missing tool. Never runs a stage.
 */
export interface Control {
  readonly name: string
  /** What the control must show, because a test that cannot fail proves nothing. */
  readonly must: 'lose'
  readonly lost_in: number
  readonly of: number
}

export interface StageReport {
  readonly name: string
  readonly status: 'passed' | 'failed' | 'skipped'
  /** Why it was skipped, or the first violation. */
  readonly reason: string | null
  readonly seconds: number
  readonly operations: number
  readonly checks: number
  readonly violations: number
  readonly faults: Readonly<Record<string, number>>
  readonly notes?: readonly string[]
  readonly controls?: readonly Control[]
  /** The stores under test, for the record. */
  readonly versions?: { readonly sqlite?: string; readonly postgres?: string }
  /** For a stage that runs many schedules. */
  readonly seeds?: { readonly from: number; readonly to: number }
  readonly mutants?: { readonly seeded: number; readonly found: number }
}

export interface StageOptions {
  /** 1 is `npm run test:chaos`; 10 a night. `npm test` gives its own numbers. */
  readonly scale: number
  readonly seed: number
}

/** Counts what a stage does and finds. Violations are sentences; the first few are kept. */
export class Findings {
  readonly #startedAt = performance.now()
  readonly #faults: Record<string, number> = {}
  readonly #notes: string[] = []
  readonly #sentences: string[] = []
  readonly #versions: { sqlite?: string; postgres?: string } = {}
  operations = 0
  checks = 0

  fault(name: string, times = 1): void {
    this.#faults[name] = (this.#faults[name] ?? 0) + times
  }

  note(sentence: string): void {
    this.#notes.push(sentence)
  }

  version(store: 'sqlite' | 'postgres', version: string): void {
    this.#versions[store] = version
  }

  violation(sentence: string): void {
    this.#sentences.push(sentence)
  }

  /** What another part of the same stage found. */
  add(part: Findings): void {
    this.operations += part.operations
    this.checks += part.checks
    for (const [name, times] of Object.entries(part.#faults)) this.fault(name, times)
    this.#notes.push(...part.#notes)
    this.#sentences.push(...part.#sentences)
  }

  get violations(): number {
    return this.#sentences.length
  }

  /** V31: a fault that was declared and never fired means that the stage tested nothing. */
  report(name: string, declared: readonly string[], controls: readonly Control[] = []): StageReport {
    for (const fault of declared) {
      if ((this.#faults[fault] ?? 0) === 0) this.violation(`V31 the fault ${fault} never fired`)
    }
    for (const control of controls) {
      if (control.lost_in === 0)
        this.violation(`the control ${control.name} lost nothing in ${control.of}: this stage cannot see a loss`)
    }
    return {
      name,
      status: this.#sentences.length === 0 ? 'passed' : 'failed',
      reason: this.#sentences.slice(0, 3).join(' | ') || null,
      seconds: Math.round((performance.now() - this.#startedAt) / 100) / 10,
      operations: this.operations,
      checks: this.checks,
      violations: this.#sentences.length,
      faults: this.#faults,
      notes: this.#notes,
      controls,
      versions: this.#versions,
    }
  }
}

/** Loud: a stage that could not run never counts as one without violations. TRIHAND_REQUIRE=pg,cc makes it a failure. */
export const skipped = (name: string, tool: 'pg' | 'cc', reason: string): StageReport => {
  const required = (process.env['TRIHAND_REQUIRE'] ?? '').split(',').includes(tool)
  console.error(`\n${name.toUpperCase()} ${required ? 'FAILED' : 'SKIPPED'}: ${reason}\n`)
  return {
    name,
    status: required ? 'failed' : 'skipped',
    reason,
    seconds: 0,
    operations: 0,
    checks: 0,
    violations: 0,
    faults: {},
  }
}
