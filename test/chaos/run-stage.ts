/**
 * Runs one stage in a process of its own, for scripts/chaos.mjs: `run-stage.js <name> <scale> <seed>`, or `--list`.
 *
 * Prints the report as the last line of stdout. A stage that throws has failed, with its reason; the process itself exits with 0.
 */
import { STAGES } from '#test/chaos/stages/list.ts'
import type { StageReport } from '#test/chaos/stages/report.ts'

const failure = (name: string, error: unknown): StageReport => ({
  name,
  status: 'failed',
  reason: error instanceof Error ? (error.stack ?? error.message) : String(error),
  seconds: Math.round(performance.now() / 100) / 10,
  operations: 0,
  checks: 0,
  violations: 0,
  faults: {},
})

// Servers and workers that the stage has started end with this process, if it may end by itself.
process.once('SIGTERM', () => process.exit(1))

const [name = '', scale = '1', seed = '1'] = process.argv.slice(2)
if (name === '--list') {
  console.log(JSON.stringify(STAGES.map((stage) => ({ name: stage.name, minutes: stage.minutes }))))
} else {
  const stage = STAGES.find((candidate) => candidate.name === name)
  if (stage === undefined) throw new Error(`there is no stage ${name}`)
  const run = stage.run({ scale: Number(scale), seed: Number(seed) })
  console.log(JSON.stringify(await run.catch((error: unknown) => failure(name, error))))
}
