/**
 * `npm test`: runs every check and every test, stage by stage, and prints one table at the end.
 *
 * `--only types,unit` runs some stages. Exits with 1 if anything failed; the last line is the sum. A failed stage does not stop the others,
 * so one run shows everything. In CI a missing tool is a failure, not a skip.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const IN_CI = process.env.CI === 'true'
const ENV = { ...process.env, ...(IN_CI && { TRIHAND_REQUIRE: process.env.TRIHAND_REQUIRE ?? 'pg,cc' }) }

const HOW = { cwd: ROOT, env: ENV, shell: process.platform === 'win32' }

/** Runs a script of package.json; returns its output and whether it succeeded. */
const run = (name) =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', ...name.split(' ')], { ...HOW, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, said: Buffer.concat(said).toString() }))
  })

/** A stage that passes or fails as a whole, and prints only when it fails. */
const script =
  (...names) =>
  async () => {
    for (const name of names) {
      const { status, said } = await run(name)
      if (status !== 0) {
        process.stdout.write(said)
        return { passed: 0, failed: 1, skips: [], failures: [name] }
      }
    }
    return { passed: 1, failed: 0, skips: [], failures: [] }
  }

const tally = (report, exitCode) => {
  const inState = (state) => report.tests.filter((test) => test.state === state)
  const failed = inState('failed').length + report.errors.length
  return {
    passed: inState('passed').length,
    // A runner that exits with an error has failed, even if it names no test.
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skips: inState('skipped').map((test) => `${test.title} (${test.reason ?? 'no reason given'})`),
    failures: [...inState('failed').map((test) => test.title), ...report.errors],
  }
}

/** A project of vitest.config.ts, with flags of the runner. The counts come from test/support/project/stage-reporter.ts. */
const project =
  (name, ...flags) =>
  () => {
    const path = `${ROOT}.test-output/${name}.json`
    rmSync(path, { force: true })
    const { status } = spawnSync(
      'npm',
      ['exec', '--', 'vitest', 'run', '--project', name, '--passWithNoTests', ...flags],
      {
        ...HOW,
        env: { ...ENV, TRIHAND_REPORT: path },
        stdio: 'inherit',
      },
    )
    if (!existsSync(path)) return { passed: 0, failed: 1, skips: [], failures: ['there is no report'] }
    const report = JSON.parse(readFileSync(path, 'utf8'))
    if (report.tests.length > 0 || status !== 0) return tally(report, status)
    const none = 'there are no tests'
    return IN_CI
      ? { passed: 0, failed: 1, skips: [], failures: [none] }
      : { passed: 0, failed: 0, skips: [none], failures: [] }
  }

/** Tests that wait for processes and pages leave a third of two cores idle. */
const MORE_WORKERS = `--maxWorkers=${Math.ceil(availableParallelism() * 1.5)}`

/** `beside`: the stage only reads, so it runs in parallel with the one before it. */
const STAGES = [
  { name: 'types', perform: script('types') },
  { name: 'lint', perform: script('lint'), beside: true },
  { name: 'unused', perform: script('unused'), beside: true },
  { name: 'build', perform: script('build -- --if-changed', 'build:tools -- --if-changed', 'published') },
  { name: 'unit', perform: project('unit') },
  { name: 'acceptance', perform: project('acceptance') },
  { name: 'restate', perform: project('restate') },
  { name: 'integration', perform: project('integration', MORE_WORKERS) },
  { name: 'browser', perform: project('browser', MORE_WORKERS) },
  { name: 'chaos-small', perform: project('chaos') },
]

const chosenStages = () => {
  const { values } = parseArgs({ options: { only: { type: 'string' } } })
  if (values.only === undefined) return STAGES
  const names = values.only.split(',')
  const unknown = names.filter((name) => !STAGES.some((stage) => stage.name === name))
  if (unknown.length > 0) {
    console.error(`no such stage: ${unknown.join(', ')}; there are ${STAGES.map((stage) => stage.name).join(', ')}`)
    process.exit(2)
  }
  return STAGES.filter((stage) => names.includes(stage.name))
}

const performStage = async ({ name, perform }) => {
  console.log(`\n== ${name}`)
  const startedAt = Date.now()
  const result = await perform()
  return { name, ...result, seconds: (Date.now() - startedAt) / 1000 }
}

const performAll = async (stages) => {
  const begun = []
  for (const stage of stages) {
    if (stage.beside !== true) await Promise.all(begun)
    begun.push(performStage(stage))
  }
  return Promise.all(begun)
}

const row = (name, ...cells) => name.padEnd(12) + cells.map((cell) => String(cell).padStart(9)).join('')

const since = Date.now()
const results = await performAll(chosenStages())
const seconds = (Date.now() - since) / 1000
const total = (count) => results.reduce((sum, result) => sum + count(result), 0)
const failed = total((result) => result.failed)

console.log(`\n${row('stage', 'passed', 'failed', 'skipped', 'seconds')}`)
for (const { name, passed, failed, skips, seconds } of results) {
  console.log(row(name, passed, failed, skips.length, seconds.toFixed(1)))
}
console.log(row('together', ...['', '', ''], seconds.toFixed(1)))
for (const { name, skips } of results) for (const skip of skips) console.log(`skipped in ${name}: ${skip}`)
for (const { name, failures } of results) for (const failure of failures) console.log(`failed in ${name}: ${failure}`)
console.log(
  `${total((result) => result.passed)} passed, ${failed} failed, ${total((result) => result.skips.length)} skipped`,
)
process.exitCode = failed > 0 ? 1 : 0
