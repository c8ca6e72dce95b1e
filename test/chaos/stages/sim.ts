/**
 * Sim: deterministic schedules of the real engine with every fault and every order, and seeded bugs that must be found.
 *
 * Owns how the work is shared among processes and what the report says. A failed seed is repeated with `npm run sim -- --seed N`.
 */
import { BILL_NAMES, BILLS, type BillName } from '#test/chaos/sim/bills.ts'
import type { ChildInput, ChildReport } from '#test/chaos/sim/child.ts'
import { FAULT_NAMES } from '#test/chaos/sim/faults.ts'
import { Program } from '#test/support/program.ts'
import { Findings, type StageReport } from './report.ts'

export interface SimStageOptions {
  readonly schedules: { readonly [Name in BillName]: number }
  /** Each seeded bug must be found within this many schedules. */
  readonly limit: number
  readonly processes: number
  readonly seed: number
}

const NAME = 'sim'

const runChild = async (input: ChildInput): Promise<ChildReport> => {
  const program = new Program({ source: 'test/chaos/sim/child.ts', input })
  try {
    return JSON.parse(await program.answer()) as ChildReport
  } finally {
    await program.kill()
  }
}

/** Seeds in one range after another, seeded bugs in turn. */
const shares = ({ schedules, limit, processes, seed }: SimStageOptions): readonly ChildInput[] => {
  const size = (count: number): number => Math.ceil(count / processes)
  const { plain, coordinators, people, lives } = schedules
  const mutants = BILL_NAMES.flatMap((name) => BILLS[name].mutants)
  return Array.from({ length: processes }, (_, i) => ({
    from: seed + i * size(Math.max(...Object.values(schedules))),
    schedules: { plain: size(plain), coordinators: size(coordinators), people: size(people), lives: size(lives) },
    mutants: mutants.filter((_, at) => at % processes === i).map(({ name }) => name),
    limit,
  }))
}

export const runSim = async (options: SimStageOptions): Promise<StageReport> => {
  const findings = new Findings()
  const reports = await Promise.all(shares(options).map(runChild))
  for (const campaign of reports.flatMap(({ campaigns }) => campaigns)) {
    findings.operations += campaign.facts
    findings.checks += campaign.schedules
    for (const name of FAULT_NAMES) findings.fault(name, campaign.fired[name])
    for (const { seed, violations } of campaign.failed)
      findings.violation(`seed ${seed}: ${violations[0]} (${campaign.command} ${seed})`)
  }
  const hunted = reports.flatMap((report) => report.hunted)
  for (const { mutant, foundAt, by } of hunted) {
    findings.note(`${mutant}: ${foundAt === null ? 'not found' : `found at ${foundAt} by ${by.split(' ')[0]}`}`)
    if (foundAt === null) findings.violation(`the seeded bug "${mutant}" was not found in ${options.limit} schedules`)
  }
  const found = hunted.filter(({ foundAt }) => foundAt !== null).length
  return { ...findings.report(NAME, FAULT_NAMES), mutants: { seeded: hunted.length, found } }
}
