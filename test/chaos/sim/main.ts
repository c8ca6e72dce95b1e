/**
 * `npm run sim -- --seed N`: runs one schedule again; `--from A --count N` runs many, `--coordinators` those with gates and schedules,
 * `--people` those with tasks, `--lives` those with retries and keys.
 * Prints what failed and how to repeat it.
 *
 * Owns the command line only.
 */
import { parseArgs } from 'node:util'
import { BILL_NAMES, BILLS } from './bills.ts'
import { runCampaign } from './campaign.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string' },
    count: { type: 'string' },
    failures: { type: 'string' },
    trace: { type: 'boolean' },
    coordinators: { type: 'boolean' },
    people: { type: 'boolean' },
    lives: { type: 'boolean' },
  },
})

const from = Number(values.seed ?? values.from ?? 1)
const count = values.seed === undefined ? Number(values.count ?? 1_000) : 1
const startedAt = performance.now()
const options = values.trace === true ? { trace: console.log } : {}
const name = BILL_NAMES.find((one) => one !== 'plain' && values[one] === true) ?? 'plain'
const bill = BILLS[name].flag
const systems = BILLS[name].systems()
const report = await runCampaign(from, count, { systems, ...options }, Number(values.failures ?? 5))
const seconds = (performance.now() - startedAt) / 1_000

for (const { seed, violations, tape, tell } of report.failed) {
  console.log(`seed ${seed}: ${violations.length} violations; repeat with: npm run sim --${bill} --seed ${seed}`)
  for (const violation of violations.slice(0, 8)) console.log(`  ${violation}`)
  if (values.seed === undefined) continue
  console.log(`  tape: ${JSON.stringify(tape)}`)
  for (const line of tell()) console.log(`  ${line}`)
}
const { schedules, runs, facts, ticks, fired, failed } = report
console.log(
  `${schedules} schedules in ${seconds.toFixed(1)} s (${Math.round(schedules / seconds)}/s), ${runs} runs, ${facts} facts, ${ticks} callbacks`,
)
console.log(
  `faults: ${Object.entries(fired)
    .map(([name, times]) => `${name} ${times}`)
    .join(', ')}`,
)
process.exitCode = failed.length > 0 ? 1 : 0
