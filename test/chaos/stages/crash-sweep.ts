/**
 * Crash sweep: every ledger call and effect of every scenario, crashed before, done but unanswered, and after; also two crashes.
 *
 * Owns the report. The controls are sweeps with a seeded bug, which must lose or double something.
 */
import { newSystems } from '#test/chaos/sim/campaign.ts'
import { POSITIONS } from '#test/chaos/sim/crash-points.ts'
import { inMacrotask } from '#test/chaos/sim/microtasks.ts'
import { COORDINATOR_MUTANTS } from '#test/chaos/sim/mutants/coordinators.ts'
import { MUTANTS } from '#test/chaos/sim/mutants/hunt.ts'
import {
  COORDINATOR_SCENARIOS,
  playsOf,
  SCENARIOS,
  type Scenario,
  type SweepReport,
  sweep,
} from '#test/chaos/sim/sweep.ts'
import { sweepOnFile } from '#test/chaos/sim/sweep-sqlite.ts'
import type { Systems } from '#test/chaos/sim/system.ts'
import { type Control, Findings, type StageReport } from './report.ts'

export interface CrashSweepOptions {
  /** The number of scenarios in memory, and on SQLite. */
  readonly scenarios: number
  readonly onFile: number
  /** All pairs of crashes for scenarios with no more points than this. */
  readonly pairsUpTo: number
}

const NAME = 'crash sweep'
/** A seeded bug and the scenario that must show it. */
const CONTROLS = [
  { mutant: 'acknowledged before it is written', scenario: 'sequence 0' },
  { mutant: 'a once effect is tried again after a crash', scenario: 'pay 0' },
  { mutant: 'leases of the dead are never freed', scenario: 'family 0' },
  { mutant: 'the facts of a clerk and the runs they start are two appends', scenario: 'a schedule' },
]

interface Staged {
  readonly scenario: Scenario
  readonly systems: Systems
}

const staged = (): readonly Staged[] => {
  const systems = newSystems()
  return [
    ...SCENARIOS.map((scenario) => ({ scenario, systems })),
    ...COORDINATOR_SCENARIOS.map((scenario) => ({ scenario, systems: newSystems(playsOf(scenario)) })),
  ]
}

const sweepWith = (name: string, scenario: Scenario, systems: Systems): Promise<SweepReport> =>
  inMacrotask(() => {
    const mutant = [...MUTANTS, ...COORDINATOR_MUTANTS].find((one) => one.name === name)
    if (mutant === undefined) throw new Error(`there is no seeded bug "${name}"`)
    const { atStore, atEngine } = mutant
    const remove = mutant.plant?.() ?? (() => {})
    try {
      return sweep(scenario, { systems, ...(atStore && { atStore }), ...(atEngine && { atEngine }) }, 0)
    } finally {
      remove()
    }
  })

const runControl = async (
  cast: readonly Staged[],
  { mutant, scenario: name }: (typeof CONTROLS)[number],
): Promise<Control> => {
  const found = cast.find(({ scenario }) => scenario.name === name)
  if (found === undefined) throw new Error(`there is no scenario "${name}"`)
  const { failed, visits } = await sweepWith(mutant, found.scenario, found.systems)
  return { name: `crash-sweep: ${mutant}`, must: 'lose', lost_in: failed, of: visits }
}

export const runCrashSweep = async ({ scenarios, onFile, pairsUpTo }: CrashSweepOptions): Promise<StageReport> => {
  const findings = new Findings()
  const all = staged()
  for (const { scenario, systems } of all.slice(0, scenarios)) {
    const report = await inMacrotask(() => sweep(scenario, { systems }, pairsUpTo))
    findings.operations += report.facts
    findings.checks += report.visits
    for (const position of POSITIONS) findings.fault(`crash ${position}`, report.crashes[position])
    for (const violation of report.violations) findings.violation(violation)
    findings.note(`${report.scenario}: ${report.points} points, ${report.visits} visits`)
  }
  for (const { scenario, systems } of all.slice(0, onFile)) {
    const { visits, violations } = await sweepOnFile(scenario, systems)
    findings.checks += visits
    findings.fault('on SQLite', visits)
    for (const violation of violations) findings.violation(violation)
  }
  const controls: Control[] = []
  for (const control of CONTROLS) controls.push(await runControl(all, control))
  return findings.report(
    NAME,
    POSITIONS.map((position) => `crash ${position}`),
    controls,
  )
}
