/**
 * Fuzz: damaged manifests and random expressions, in large numbers. No crash, no hang, and every refusal has a code and a place.
 *
 * Owns how the work is shared among processes and what a hang is. The control reads the same manifests with a bare parser, which must break.
 */
import type { FuzzInput, FuzzLine } from '#test/chaos/fuzz/child.ts'
import { Program } from '#test/support/program.ts'
import { until } from '#test/support/until.ts'
import { type Control, Findings, type StageReport } from './report.ts'

export interface FuzzOptions {
  readonly manifests: number
  readonly expressions: number
  readonly processes: number
  readonly seed: number
}

const NAME = 'fuzz'
/** A process without output for this long hangs, however busy the machine is. */
const HANG_MS = 120_000
const CONTROL_CASES = 50
/** Far apart, so that no two processes run the same batch. */
const SEEDS_APART = 10_000_000

/** The next line; null once the process has ended. */
const nextLine = async (program: Program): Promise<string | null> => {
  let line: string | null | undefined
  void program.line().then((text) => {
    line = text
  })
  await until(
    () => line !== undefined,
    (isSaid) => isSaid,
    { timeoutMs: HANG_MS, what: 'a word of the process' },
  )
  return line ?? null
}

/** Reads the results of one process until it has run all of its cases. */
const readLines = async (input: FuzzInput, onLine: (line: FuzzLine) => void): Promise<void> => {
  const program = new Program({ source: 'test/chaos/fuzz/child.ts', input })
  let played = 0
  try {
    while (played < input.cases) {
      const text = await nextLine(program)
      if (text === null) throw new Error(`the process died after ${played} cases: ${program.complaint}`)
      const line = JSON.parse(text) as FuzzLine
      played += line.cases
      onLine(line)
    }
  } finally {
    await program.kill()
  }
}

const fuzz = async (input: FuzzInput, findings: Findings): Promise<void> => {
  const { what, seed } = input
  let next = seed
  const onLine = (line: FuzzLine): void => {
    next = line.seed + line.cases
    findings.operations += line.cases
    findings.checks += line.cases
    findings.fault(`damaged ${what}`, line.cases)
    if (what === 'manifest') findings.fault('refused manifest', line.refused)
    if (line.failure !== null) findings.violation(`${what}, batch ${line.seed}: ${line.failure.slice(0, 2_000)}`)
  }
  await readLines(input, onLine).catch((error: unknown) =>
    findings.violation(`${what}, batch ${next}: ${String(error)}`),
  )
}

const control = async (seed: number): Promise<Control> => {
  let broken = 0
  await readLines({ what: 'bare', cases: CONTROL_CASES, seed }, ({ failure }) => {
    if (failure !== null) broken += 1
  })
  return { name: 'fuzz-bare-parser', must: 'lose', lost_in: broken, of: CONTROL_CASES }
}

export const runFuzz = async ({ manifests, expressions, processes, seed }: FuzzOptions): Promise<StageReport> => {
  const findings = new Findings()
  const share = async (_: unknown, i: number): Promise<void> => {
    const own = seed + i * SEEDS_APART
    await fuzz({ what: 'manifest', cases: Math.ceil(manifests / processes), seed: own }, findings)
    await fuzz({ what: 'expression', cases: Math.ceil(expressions / processes), seed: own }, findings)
  }
  await Promise.all(Array.from({ length: processes }, share))
  const declared = ['damaged manifest', 'refused manifest', 'damaged expression']
  return findings.report(NAME, declared, [await control(seed)])
}
