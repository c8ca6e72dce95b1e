/**
 * Writes the results of a test run for `scripts/test.mjs`: every test with its state, and the reason of each skip.
 *
 * Owns the format of that report. Never prints: the runner's own reporter does.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

export interface StageReport {
  readonly tests: readonly TestReport[]
  /** Failures outside a test: a file that does not load, a hook, an uncaught error. */
  readonly errors: readonly string[]
}

export interface TestReport {
  readonly file: string
  readonly title: string
  readonly state: 'passed' | 'failed' | 'skipped'
  /** Why it was skipped, or the message of its first error. */
  readonly reason: string | null
  readonly ms: number
}

const reportOf = (test: TestCase): TestReport => {
  const result = test.result()
  return {
    file: test.module.relativeModuleId,
    title: test.fullName,
    // A test without a result did not pass.
    state: result.state === 'pending' ? 'failed' : result.state,
    reason: result.state === 'skipped' ? (result.note ?? null) : (result.errors?.[0]?.message ?? null),
    ms: test.diagnostic()?.duration ?? 0,
  }
}

const errorsOf = (module: TestModule): string[] => {
  // Tests behind a failed hook count as skipped, so the failure would be lost without the suite's own errors.
  const failures = [module, ...module.children.allSuites()].flatMap((part) => part.errors())
  return failures.map((error) => `${module.relativeModuleId}: ${error.message}`)
}

export class StageReporter implements Reporter {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const report: StageReport = {
      tests: modules.flatMap((module) => [...module.children.allTests()].map(reportOf)),
      errors: [...modules.flatMap(errorsOf), ...unhandled.map((error) => String(error.message))],
    }
    mkdirSync(dirname(this.#path), { recursive: true })
    writeFileSync(this.#path, JSON.stringify(report))
  }
}
