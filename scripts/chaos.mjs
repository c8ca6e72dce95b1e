/**
 * `npm run test:chaos`: runs every chaos stage at full size, two at a time, and records the results.
 *
 * `--only kill,storage` runs some stages, `--scale 10` makes them ten times as long, `--seed 7` changes the random seed. A run of all
 * stages at full size writes `reliability.json`, the source of the README's table. Exits with 1 if a stage failed; a skip is reported and
 * never counts as passed.
 */
import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const PROGRAM = `${ROOT}.build/test/chaos/run-stage.js`
const LANES = 2
const LIMIT_MINUTES = 45

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})
const scale = Number(values.scale)
const seed = Number(values.seed)

const chosenStages = () => {
  const all = JSON.parse(execFileSync(process.execPath, [PROGRAM, '--list'], { encoding: 'utf8' }))
  const names = values.only?.split(',') ?? all.map((stage) => stage.name)
  const unknown = names.filter((name) => !all.some((stage) => stage.name === name))
  if (unknown.length > 0) {
    console.error(`no such stage: ${unknown.join(', ')}; there are ${all.map((stage) => stage.name).join(', ')}`)
    process.exit(2)
  }
  return all.filter((stage) => names.includes(stage.name)).sort((a, b) => b.minutes - a.minutes)
}

const failure = (name, reason, startedAt) => ({
  ...{ name, status: 'failed', reason, seconds: (Date.now() - startedAt) / 1000 },
  ...{ operations: 0, checks: 0, violations: 0, faults: {} },
})

/** Runs the stage in its own process, so that its leaks and crashes do not affect the next one. */
const runStage = (name) =>
  new Promise((resolve) => {
    const startedAt = Date.now()
    const child = spawn(process.execPath, [PROGRAM, name, String(scale), String(seed)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const limit = setTimeout(() => child.kill('SIGTERM'), LIMIT_MINUTES * 60_000 * Math.max(1, scale))
    let said = ''
    child.stdout.on('data', (chunk) => {
      said += chunk
    })
    child.on('close', (code, signal) => {
      clearTimeout(limit)
      const last = said.trimEnd().split('\n').at(-1) ?? ''
      try {
        resolve(JSON.parse(last))
      } catch {
        resolve(
          failure(name, `the stage ended with ${code ?? signal} and no report (limit ${LIMIT_MINUTES} min)`, startedAt),
        )
      }
    })
  })

const row = ({ name, status, seconds, operations, checks, violations }) =>
  name.padEnd(16) +
  status.padEnd(9) +
  [seconds, operations, checks, violations].map((n) => String(n).padStart(12)).join('')

const runLane = async (queue, reports) => {
  for (let stage = queue.shift(); stage !== undefined; stage = queue.shift()) {
    console.log(`${stage.name} begins (seed ${seed}, scale ${scale})`)
    const report = await runStage(stage.name)
    reports.push(report)
    console.log(row(report))
    // Written after every stage, so that progress can be read while the others run.
    if (report.status !== 'passed') console.log(`${report.name} ${report.status}: ${report.reason}`)
  }
}

const stageRecord = ({ name, status, reason, seconds, operations, checks, violations, faults, notes = [] }) => ({
  ...{ name, status, reason, seconds, operations, checks, violations, faults, notes },
})

const record = (reports, startedAt) => ({
  schema: 1,
  commit: execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim(),
  node: process.versions.node,
  sqlite: null,
  postgres: null,
  ...Object.assign({}, ...reports.map((report) => report.versions ?? {})),
  cores: availableParallelism(),
  started_at: new Date(startedAt).toISOString(),
  seconds: Math.round((Date.now() - startedAt) / 1000),
  seeds: reports.find((report) => report.seeds !== undefined)?.seeds ?? { from: seed, to: seed },
  stages: reports.map(stageRecord),
  controls: reports.flatMap((report) => report.controls ?? []),
  mutants: reports.find((report) => report.mutants !== undefined)?.mutants ?? { seeded: 0, found: 0 },
})

const print = (reports) => {
  const head = { name: 'stage', status: 'status', seconds: 'seconds', operations: 'operations', checks: 'checks' }
  console.log(`\n${row({ ...head, violations: 'violations' })}`)
  for (const report of reports) console.log(row(report))
  for (const { name, controls = [], notes = [], status, reason } of reports) {
    for (const { name: control, lost_in, of } of controls)
      console.log(`${name}: control ${control} lost in ${lost_in} of ${of}`)
    for (const note of notes) console.log(`${name}: ${note}`)
    if (status !== 'passed') console.log(`${name} ${status}: ${reason}`)
  }
}

execFileSync(process.execPath, ['scripts/build-tools.mjs', '--if-changed'], { cwd: ROOT, stdio: 'inherit' })
const startedAt = Date.now()
const queue = chosenStages()
const order = queue.map((stage) => stage.name)
const reports = []
await Promise.all(Array.from({ length: LANES }, () => runLane(queue, reports)))
reports.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
print(reports)
// A run of fewer stages, or below full size, is not recorded.
if (values.only === undefined && scale >= 1) {
  writeFileSync(`${ROOT}reliability.json`, `${JSON.stringify(record(reports, startedAt), null, 2)}\n`)
}
const count = (status) => reports.filter((report) => report.status === status).length
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
process.exitCode = count('failed') > 0 ? 1 : 0
